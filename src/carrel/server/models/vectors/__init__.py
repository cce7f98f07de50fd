"""Embedding models: the built-in one and those at an address."""
