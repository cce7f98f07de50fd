"""Deletions, and their undoing."""
