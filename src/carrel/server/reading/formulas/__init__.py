"""Formulas of digital pages as LaTeX, from the places, sizes and fonts of their glyphs."""
