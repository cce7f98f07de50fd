"""Downloads: 256 MiB from `carrel serve`, against Starlette's FileResponse for the same file.

The peer is an application with that one route, in a uvicorn process of its own. The same
reader asks both, in turn.
"""

import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.report import Figure
from support.libraries import connect
from support.peers import Answers, call, head, in_turn, peer, serve_app
from support.process import serve

_MIB = 1024 * 1024
_SIZE = 256
"""MiB."""
_ROUNDS = 9


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "file.bin")
        path.write_bytes(os.urandom(_MIB) * _SIZE)
        with serve(Path(name, "data")) as server, peer(serve_app, _app, path) as port:
            with connect(server) as http, path.open("rb") as file:
                id = http.post("/v1/files", files={"file": file}, timeout=120).json()["id"]
            times = in_turn(
                _ROUNDS,
                lambda: _download(port, "/"),
                lambda: _download(server.port, f"/v1/files/{id}/content", server.api_key),
            )
    yield Figure(
        "share of FileResponse's speed",
        median(starlette / carrel for starlette, carrel in times),
        0.8,
        detail=f"{_SIZE} MiB at {_SIZE / median(carrel for _, carrel in times):.0f} MiB/s,"
        f" the middle of {_ROUNDS} rounds",
    )


def _app(path: Path) -> ASGIApp:
    async def download(request: Request) -> FileResponse:
        return FileResponse(path)

    return Starlette(routes=[Route("/", download)])


def _download(port: int, path: str, key: str = "") -> float:
    began = time.perf_counter()
    with call(port) as connection:
        connection.sendall(head("GET", path, key))
        if Answers(connection).read() != _SIZE * _MIB:
            raise RuntimeError("the download is not the whole file")
    return time.perf_counter() - began
