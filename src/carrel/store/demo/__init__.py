"""Demos: a file of steps, what they need at the service, and the player of the steps."""

JOURNAL = "demo.json"
"""The journal of what a demo makes, in the state folder."""
