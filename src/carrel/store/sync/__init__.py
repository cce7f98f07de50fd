"""Folders synced with libraries."""
