"""Pages of other origins that may call the server from a browser (CORS)."""

from collections.abc import Callable

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.server.settings import ServerSettings

_SHOWN = (
    "carrel-document",
    "retry-after",
    "warning",
    "x-request-id",
    "x-ratelimit-limit-req-minute",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-limit-tokens-minute",
    "x-ratelimit-remaining-req-minute",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-remaining-tokens-minute",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-tokens-query-cost",
)
"""Headers of an answer that such a page may read."""


class Cors:
    """Adds CORS headers for the origins in the settings, and for no others."""

    def __init__(self, app: ASGIApp, settings: Callable[[], ServerSettings]) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app, origins = self._app, self._settings().cors
        if origins:
            # Keys come in a header that the page sets, never from the browser's own store.
            app = CORSMiddleware(
                app,
                allow_origins=origins,
                allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
                allow_headers=["*"],
                allow_private_network=True,
                expose_headers=_SHOWN,
            )
        await app(scope, receive, send)
