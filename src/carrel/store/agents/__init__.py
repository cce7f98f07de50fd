"""Agents, their versions, drafts and aliases."""
