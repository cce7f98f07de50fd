"""Assembles a page's lines, tables and figures into regions in reading order."""
