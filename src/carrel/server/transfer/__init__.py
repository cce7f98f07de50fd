"""Bytes in and out: uploads, downloads, and documents fetched from callers' addresses."""
