"""Errors of drawing pages."""


class NoPicture(Exception):
    """There is no picture of this page; the message says why."""
