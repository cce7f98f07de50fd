"""Draws the pages of documents on the client's side."""
