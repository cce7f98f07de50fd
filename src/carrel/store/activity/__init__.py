"""Uploads, downloads, reading and processing, as they run."""
