"""Demos: a file of steps, what they need at the service, and the player of the steps."""
