"""Colours, and how text is drawn."""
