"""Agents, and the shapes of every request to a model and of its answers."""
