"""A request to the server's own application, without a socket."""

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from carrel.server.errors import ApiError
from carrel.server.http.preferences import MOST_WAITED
from carrel.server.records.accounts.caller import Caller
from carrel.server.spans import current_request

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CallAnswer:
    """The status of an answer, and its JSON."""

    status: int
    body: bytes


async def call(
    app: ASGIApp, path: str, body: dict[str, Any], caller: Caller, request_id: str
) -> CallAnswer:
    """Post JSON to a path of an application as a caller; cancelling it stops the work."""
    status, received = 500, bytearray()
    messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Message:
        if not messages:
            # Nobody hangs up.
            await asyncio.Event().wait()
        return messages.pop()

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            received.extend(message.get("body", b""))

    current_request.set(request_id)
    try:
        await app(_scope(path, caller, request_id), receive, send)
    except Exception:
        log.exception("POST %s failed", path)
        error = ApiError(500, "The server failed; its log says why. Try again.")
        return CallAnswer(error.status, json.dumps(error.body(request_id)).encode())
    return CallAnswer(status, bytes(received))


def _scope(path: str, caller: Caller, request_id: str) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        # Nobody's time-out runs meanwhile.
        "headers": [
            (b"content-type", b"application/json"),
            (b"prefer", f"wait={MOST_WAITED:.0f}".encode()),
        ],
        "client": None,
        "server": None,
        "state": {"caller": caller, "request_id": request_id},
    }
