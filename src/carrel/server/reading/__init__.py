"""Reads documents into pages. Only child processes touch hostile bytes."""
