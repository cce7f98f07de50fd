"""Copies of documents and what was read of them, on this machine."""
