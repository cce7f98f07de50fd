"""A request to the server's own application, without a socket."""

import json
import logging
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

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

    async def as_caller(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"caller": caller, "request_id": request_id}
        await app(scope, receive, send)

    # Nobody's time-out runs meanwhile.
    headers = {"content-type": "application/json", "prefer": f"wait={MOST_WAITED:.0f}"}
    content = json.dumps(body).encode()
    request = httpx.Request("POST", f"http://localhost{path}", content=content, headers=headers)
    current_request.set(request_id)
    try:
        answer = await httpx.ASGITransport(as_caller).handle_async_request(request)
        return CallAnswer(answer.status_code, await answer.aread())
    except Exception:
        log.exception("POST %s failed", path)
        error = ApiError(500, "The server failed; its log says why. Try again.")
        return CallAnswer(error.status, json.dumps(error.body(request_id)).encode())
