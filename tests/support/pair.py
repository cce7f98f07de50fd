"""Several servers behind one address: each request goes to the next of them."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle

import httpx
import uvicorn
from starlette.types import Receive, Scope, Send

from support.peers import HOST

_HOP_BY_HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"expect"}
# Shorter than that of the servers, which close a connection that is not used.
_IDLE_SECONDS = 2


@contextmanager
def alternating(urls: Sequence[str]) -> Iterator[str]:
    """The address of a proxy that passes each request on to the next of `urls`."""
    config = uvicorn.Config(
        _Alternating(urls),
        lifespan="on",
        timeout_graceful_shutdown=1,
        server_header=False,
        log_config=None,
        access_log=False,
        date_header=False,
    )
    # A connection that a server cuts off, the proxy cuts off, too: no error of it.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    server = uvicorn.Server(config)
    with socket.create_server((HOST, 0), backlog=512) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class _Left(Exception):
    """The caller closed the connection."""


class _Alternating:
    def __init__(self, urls: Sequence[str]) -> None:
        self._next = cycle(urls)
        self._http = httpx.AsyncClient(
            timeout=None,
            trust_env=False,
            limits=httpx.Limits(keepalive_expiry=_IDLE_SECONDS),
        )
        self._http.headers.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        for moment in ("startup", "shutdown"):
            await receive()
            if moment == "shutdown":
                await self._http.aclose()
            await send({"type": f"lifespan.{moment}.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = asyncio.Event()
        if not _has_body(scope):
            sent.set()
        passing = asyncio.ensure_future(self._pass_on(scope, _body(receive, sent), send))
        leaving = asyncio.ensure_future(_left(receive, sent))
        try:
            await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            passing.cancel()
            leaving.cancel()
            with suppress(asyncio.CancelledError, _Left):
                await passing

    async def _pass_on(self, scope: Scope, body: AsyncIterator[bytes], send: Send) -> None:
        path = scope["raw_path"].decode("ascii")
        query = f"?{scope['query_string'].decode('ascii')}" if scope["query_string"] else ""
        request = self._http.build_request(
            scope["method"],
            next(self._next) + path + query,
            headers=_ours(scope["headers"]),
            content=body if _has_body(scope) else None,
        )
        answer = await self._http.send(request, stream=True)
        try:
            start = {"status": answer.status_code, "headers": _ours(answer.headers.raw)}
            await send({"type": "http.response.start", **start})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body"})
        finally:
            await answer.aclose()


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


def _ours(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]


async def _body(receive: Receive, sent: asyncio.Event) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Left
        yield message.get("body", b"")
        if not message.get("more_body"):
            sent.set()
            return


async def _left(receive: Receive, sent: asyncio.Event) -> None:
    await sent.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
