"""Embedding models: the built-in model, and models at an address."""
