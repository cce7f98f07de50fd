"""Colours, and the rendering of text."""
