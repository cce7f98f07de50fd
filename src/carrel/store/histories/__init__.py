"""Filters and searches that were typed before, by the name of their list."""
