"""Comparison: one question to several agents, versions or drafts."""
