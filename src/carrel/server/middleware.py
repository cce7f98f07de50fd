"""Around every request: its id and its line in the log, its size, its key."""

import asyncio
import contextlib
import logging
import math
import re
import time
import uuid
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.access import Access
from carrel.server.errors import ApiError, Unauthorized, unauthorized
from carrel.server.signing import PREFIX

log = logging.getLogger(__name__)

_DRAIN_SECONDS = 5
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id(scope: Scope) -> str:
    """The id of a request: its own `x-request-id` where that is harmless, else a new one."""
    state = scope.setdefault("state", {})
    if "request_id" not in state:
        given = Headers(scope=scope).get("x-request-id", "")
        state["request_id"] = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
    return str(state["request_id"])


class RequestLog:
    """Gives every answer an `x-request-id`, logs it, and turns a failed route into a 500."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, id = time.perf_counter(), request_id(scope)
        status, size = 0, 0

        async def send_on(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = id
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except ClientDisconnect:
            log.info("%s: the client went away", id)
        except Exception:
            log.exception("%s: %s %s failed", id, scope["method"], _shown(scope["path"]))
            if status:
                raise
            error = ApiError(500, "The server failed; its log says why. Try again.")
            answer = JSONResponse(error.body(id), error.status)
            await answer(scope, receive, send_on)
        finally:
            milliseconds = (time.perf_counter() - began) * 1000
            log.info(
                "%s: %s %s %s %d bytes %.0f ms",
                *(id, scope["method"], _shown(scope["path"]), status or "-", size, milliseconds),
            )


class BodyGuard:
    """Bounds the body of a request, and lets its sender finish before an early answer."""

    def __init__(self, app: ASGIApp, limit: Callable[[], int]) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # An upload counts the bytes of its file itself.
        headers = Headers(scope=scope)
        is_upload = headers.get("content-type", "").startswith("multipart/form-data")
        has_body = "content-length" in headers or "transfer-encoding" in headers
        limit = math.inf if is_upload else self._limit()
        size, whole, began = 0, False, False

        async def receive_on() -> Message:
            nonlocal size, whole
            message = await receive()
            size += len(message.get("body", b""))
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            if size > limit and not began:
                raise HTTPException(413, "The request is larger than this server takes.")
            return message

        async def drain() -> None:
            while not whole:
                await receive_on()

        async def send_on(message: Message) -> None:
            nonlocal began
            asked_first = size == 0 and "expect" in headers
            if not began and has_body and not asked_first:
                # A sender that is cut off never sees the answer.
                began = True
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(drain(), _DRAIN_SECONDS)
            await send(message)

        await self._app(scope, receive_on, send_on)


class Authenticate:
    """Lets only good keys through, to every path but the open ones."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_open(scope["path"]):
            try:
                authorization = Headers(scope=scope).get("authorization")
                scope.setdefault("state", {})["caller"] = await self._access.caller(authorization)
            except Unauthorized:
                await unauthorized()(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in ("/healthz", "/readyz") or path.startswith(PREFIX)


def _shown(path: str) -> str:
    """A path fit for the log: without the token of a signed address, on one line."""
    return f"{PREFIX}…" if path.startswith(PREFIX) else ascii(path)[1:-1]
