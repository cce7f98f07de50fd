"""Bytes, kept under their hash."""
