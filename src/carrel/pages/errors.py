"""What goes wrong with a picture."""


class NoPicture(Exception):
    """There is no picture of this page; the message says why."""
