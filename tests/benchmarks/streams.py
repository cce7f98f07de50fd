"""Streams: 64 answers at once through `carrel serve`, against a relay that reads none of them.

The peer passes the bytes of the same model on untouched: Starlette and httpx, in a uvicorn
process of its own. Carrel reads every chunk of the model and writes its own. The model says
each word by itself and as fast as it can; the figure is all words in all time, asked in turn.
"""

import json
import selectors
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.report import Figure
from support.model import WORD, serve_model
from support.peers import HOST, call, head, in_turn, peer, serve_app
from support.process import serve

_STREAMS = 64
_WORDS = 200
"""Of each stream."""
_ROUNDS = 9
_PATH = "/v1/chat/completions"
_BODY = json.dumps(
    {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "Speak."}]}
).encode()


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, peer(serve_model, _WORDS) as model:
        address = f"http://{HOST}:{model}"
        with (
            serve(Path(name, "data"), "--model-url", f"{address}/v1") as server,
            peer(serve_app, _relay, address) as relay,
        ):
            times = in_turn(
                _ROUNDS, lambda: _listen(relay), lambda: _listen(server.port, server.api_key)
            )
    words = _STREAMS * _WORDS
    yield Figure(
        "share of a byte relay's words",
        median(relayed / carrel for relayed, carrel in times),
        0.6,
        detail=f"{words / median(carrel for _, carrel in times):.0f} a second of {_STREAMS}"
        f" streams, the relay {words / median(relayed for relayed, _ in times):.0f},"
        f" the middle of {_ROUNDS} rounds",
    )


def _relay(address: str) -> ASGIApp:
    http = httpx.AsyncClient(
        base_url=address, timeout=None, limits=httpx.Limits(max_connections=None), trust_env=False
    )

    async def relay(request: Request) -> StreamingResponse:
        asked = http.build_request("POST", _PATH, content=await request.body())
        answer = await http.send(asked, stream=True)

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_raw():
                    yield piece
            finally:
                await answer.aclose()

        return StreamingResponse(pieces(), media_type="text/event-stream")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with http:
            yield

    return Starlette(routes=[Route(_PATH, relay, methods=["POST"])], lifespan=lifespan)


def _listen(port: int, key: str = "") -> float:
    """Seconds until every stream was read to its end."""
    request = head("POST", _PATH, key, content_type="application/json", content_length=len(_BODY))
    answers: dict[socket.socket, bytearray] = {call(port): bytearray() for _ in range(_STREAMS)}
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for connection in answers:
            connection.sendall(request + _BODY)
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map():
            for selected, _ in selector.select():
                connection = selected.fileobj  # type: ignore[assignment]
                piece = connection.recv(256 * 1024)
                answers[connection] += piece
                if not piece or b"[DONE]" in answers[connection][-32:]:
                    selector.unregister(connection)
    took = time.perf_counter() - began
    for connection, answer in answers.items():
        connection.close()
        if answer.count(WORD.encode()) != _WORDS:
            raise RuntimeError("a stream was not whole")
    return took
