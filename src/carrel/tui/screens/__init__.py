"""The six screens."""
