"""What goes wrong with the local server."""


class LocalError(Exception):
    """The local server did not start. The message names its log."""
