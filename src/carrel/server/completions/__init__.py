"""Completions, by agents and by models asked directly."""
