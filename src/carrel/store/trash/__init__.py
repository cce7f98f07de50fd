"""Deletions and the way back from them."""
