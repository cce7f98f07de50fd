"""Carrel: a workbench for documents and agents."""
