"""Recordings of terminal sessions, as asciicast v2: written, read, played, and made a page."""
