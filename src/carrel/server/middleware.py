"""Around every request: its id, a line in the log, and an answer even when a route fails."""

import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.errors import ApiError
from carrel.server.signing import PREFIX

log = logging.getLogger(__name__)

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


def _shown(path: str) -> str:
    """A path fit for the log: without the token of a signed address, on one line."""
    return f"{PREFIX}…" if path.startswith(PREFIX) else ascii(path)[1:-1]
