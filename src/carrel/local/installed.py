"""Check for the server's packages, the extra `carrel[server]`."""

from importlib.util import find_spec

from carrel.local.errors import NotInstalled


def require_server() -> None:
    """Check that the server's packages are installed.

    Raises:
        NotInstalled: they are not; the message says how to install them.
    """
    # One package stands for all: the extra installs them together.
    if find_spec("fastapi") is None:
        raise NotInstalled
