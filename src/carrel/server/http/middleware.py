"""Middleware of every request: id and log line, body limits, authentication."""

import asyncio
import contextlib
import logging
import random
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from http import HTTPMethod

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.datadir.signing import PREFIX
from carrel.server.errors import ApiError, InvalidKey, unauthorized
from carrel.server.http.access import Access
from carrel.server.records.sql.database import is_unreachable
from carrel.server.spans import Span, current_request, span

log = logging.getLogger(__name__)

DRAIN_SECONDS = 5
"""Seconds an answer waits for the rest of an unread body."""
IDLE_SECONDS = 60
"""Seconds a body may pause."""
PACE_SECONDS, PACE_BYTES = 60, 1024
"""Base time of a body in seconds, plus a second for each `PACE_BYTES`."""

_RETRY_SECONDS = 5
"""The wait that an answer names where a part of the server is away, unless it names another."""
_OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs")
# Posted questions whose answers are not kept, and the tools at /mcp, which ask with the same key.
_ASKING = (*("/v1/chat/completions", "/v1/agents/completions", "/v1/embeddings", "/v1/ocr"), "/mcp")
_STOPPED = ApiError(
    503,
    "The server stopped before it could answer. Ask again when it is back.",
    headers={"retry-after": "1"},
)
_AMBIGUOUS = ApiError(
    400,
    "Send the length of the body, or a transfer encoding, and not both.",
    headers={"connection": "close"},
)
_READS_ONLY = ApiError(403, "This API key only reads. Use another to change something.")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id(scope: Scope) -> str:
    """Return the id of a request: its `x-request-id` if valid, else a new one."""
    state = scope.setdefault("state", {})
    if "request_id" not in state:
        given = Headers(scope=scope).get("x-request-id", "")
        state["request_id"] = (
            given if _REQUEST_ID.fullmatch(given) else f"{random.getrandbits(128):032x}"
        )
    return str(state["request_id"])


class RequestLogging:
    """Gives every answer an `x-request-id`, logs it, and turns a failed route into a 500.

    A request cut off by a stop of the server becomes a 503, or its connection is closed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        current_request.set(request_id(scope))
        with (
            ExitStack() as stack,
            span("request", parent=Headers(scope=scope).get("traceparent")) as observed,
        ):
            await self._answer(scope, receive, send, stack, observed)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, stack: ExitStack, observed: Span
    ) -> None:
        began, id = time.perf_counter(), request_id(scope)
        status, size = 0, 0

        async def send_on(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = id
                if status == 503:
                    headers.setdefault("retry-after", str(_RETRY_SECONDS))
                if headers.get("content-type", "").startswith("text/event-stream"):
                    stack.enter_context(span("stream", inner=False))
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except ClientDisconnect:
            log.info("the client went away")
        except asyncio.CancelledError:
            # A stopping server cancels requests after its grace period.
            log.info("%s %s was cut off by a stop", scope["method"], _for_log(scope["path"]))
            if not status:
                await _STOPPED.answer(scope)(scope, receive, send_on)
        except Exception as failure:
            log.exception("%s %s failed", scope["method"], _for_log(scope["path"]))
            if status:
                raise
            error = ApiError(500, "The server failed; its log says why. Try again.")
            if is_unreachable(failure):
                error = ApiError(503, "The server's database does not answer. Try again soon.")
            await error.answer(scope)(scope, receive, send_on)
        finally:
            figures = {
                "method": scope["method"],
                "path": _for_log(scope["path"]),
                "status": status or None,
                "bytes": size,
                "milliseconds": round((time.perf_counter() - began) * 1000),
            }
            text = "%(method)s %(path)s %(status)s %(bytes)d bytes %(milliseconds)d ms"
            log.info(text, figures, extra={"fields": figures})
            observed.set(method=_method(scope), route=_route(scope), status=status or 499)


class BodyGuard:
    """Bounds a request's body in size and time, and lets its sender finish before an answer."""

    def __init__(self, app: ASGIApp, limit: Callable[[Scope], float]) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # Two readings of where the request ends: what follows may be another one.
            await _AMBIGUOUS.answer(scope)(scope, receive, send)
            return
        body = _Body(scope, receive, send, self._limit(scope))
        await self._app(scope, body.receive, body.send)


class _Body:
    """The incoming body of one request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: float) -> None:
        self._receive, self._send = receive, send
        headers = Headers(scope=scope)
        self._limit = limit
        self._asks_first = "expect" in headers
        self._whole = not ("content-length" in headers or "transfer-encoding" in headers)
        self._answered = False
        self._size = 0
        self._began = time.monotonic()

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(self._patience()):
                message = await self._receive()
        except TimeoutError as error:
            raise HTTPException(408, "The request came too slowly. Send it again.") from error
        self._size += len(message.get("body", b""))
        self._whole = message["type"] != "http.request" or not message.get("more_body", False)
        if self._size > self._limit and not self._answered:
            raise HTTPException(413, "The request is larger than this server takes.")
        return message

    async def send(self, message: Message) -> None:
        if not self._answered and not self._whole:
            self._answered = True
            # A client that sent `Expect` sends no body before an answer.
            if self._size or not self._asks_first:
                # A client that is cut off while sending never reads the answer.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._drain(), DRAIN_SECONDS)
            if not self._whole:
                MutableHeaders(scope=message)["connection"] = "close"
        await self._send(message)

    async def _drain(self) -> None:
        while not self._whole:
            await self.receive()

    def _patience(self) -> float | None:
        """Return the seconds to wait for more bytes, by the pause limit and the minimum rate."""
        if self._whole or self._answered:
            return None
        due = self._began + PACE_SECONDS + self._size / PACE_BYTES
        return max(0, min(IDLE_SECONDS, due - time.monotonic()))


class Authenticate:
    """Requires a valid key for every path except the open ones."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_open(scope["path"]):
            try:
                headers = Headers(scope=scope)
                # Clients of the hosted service ask whose key it is with this header alone.
                other = headers.get("x-api-key")
                authorization = headers.get("authorization", other and f"Bearer {other}")
                scope.setdefault("state", {})["caller"] = await self._access.caller(authorization)
            except InvalidKey:
                await unauthorized()(scope, receive, send)
                return
            if scope["state"]["caller"].reads_only and not _reads(scope):
                await _READS_ONLY.answer(scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _reads(scope: Scope) -> bool:
    """Return whether a request only reads."""
    return scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"] in _ASKING


def is_open(path: str) -> bool:
    """Return whether a path needs no key."""
    return path in _OPEN or path.startswith(PREFIX)


def _method(scope: Scope) -> str:
    """Return the method if it is a known one: metric labels must have few values."""
    method = str(scope["method"])
    return method if method in HTTPMethod.__members__ else "other"


def _route(scope: Scope) -> str:
    """Return the template of a request's path, or one word for all paths without any.

    Metric labels must have few values.
    """
    return str(getattr(scope.get("route"), "path", None) or "none")


def _for_log(path: str) -> str:
    """Return a path for the log: one line, without the token of a signed address."""
    return f"{PREFIX}…" if path.startswith(PREFIX) else ascii(path)[1:-1]
