"""Errors of the local server."""


class LocalError(Exception):
    """The local server did not start. The message names its log."""


class NotInstalled(LocalError):
    """The server's packages are not installed."""

    def __init__(self) -> None:
        super().__init__(
            "The local server is not installed. Install it with: pip install 'carrel[server]', "
            "or connect to a hosted service with: carrel profiles add NAME --url ADDRESS"
        )
