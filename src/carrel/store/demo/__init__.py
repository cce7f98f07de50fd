"""Demos: a file of steps, what they need at the service, and the player of the steps."""

FOLDER = "demo"
"""The folder of the place where demos play, in the state folder."""
