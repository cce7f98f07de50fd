"""Errors of page drawing."""


class NoPicture(Exception):
    """A page cannot be drawn; the message gives the reason."""
