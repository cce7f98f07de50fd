"""Demos: files of steps with the resources they need, and a player."""

FOLDER = "demo"
"""Name of the demos' folder in the state folder."""
