"""The names under which a server answers.

A page on any site can make a browser send requests to this machine under the site's own name (DNS
rebinding). It cannot do so under an IP address or one of these names.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable
from functools import cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.server.errors import ApiError
from carrel.server.settings import ServerSettings


class AllowedHosts:
    """Answers 421 to a request for a host that is not this server."""

    def __init__(self, app: ASGIApp, settings: Callable[[], ServerSettings]) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_own(Headers(scope=scope).get("host", "")):
            error = ApiError(
                421,
                "This server does not answer under that host name. Use its address, or add the name"
                " to hosts in its settings.toml.",
            )
            await error.answer(scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        name = _name(f"//{host}")
        settings = self._settings()
        return (
            name == ""
            or _is_address(name)
            or name.endswith(".localhost")
            or name in names(settings.hosts, settings.public_url)
        )


def names(hosts: Iterable[str], public_url: str | None) -> set[str]:
    """Return the names of a server: this machine's, that of its public address, and `hosts`."""
    own = {"localhost", _machine(), _name(public_url or "")}
    return own | {host.lower() for host in hosts}


@cache
def _machine() -> str:
    return socket.gethostname().lower()


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return "invalid"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
