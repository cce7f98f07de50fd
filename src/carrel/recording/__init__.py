"""Recordings of terminal sessions as asciicast v2: recording, reading, playback, HTML export."""
