"""Lists: a page of 20 out of 10,000 files, against a FastAPI route that does the same SQL.

The peer reads the same database with sqlite3 and answers with the same response model; it knows
no keys, no request ids and no log. Several connections ask both, in turn.

Then a page of 100 out of 10,000 documents, the first and the last: processor time of the server.
"""

import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

from fastapi import FastAPI
from starlette.types import ASGIApp

from benchmarks.report import Figure
from carrel.wire.files import File, FileList
from support.libraries import connect, new_library
from support.peers import Answers, call, head, in_turn, peer, serve_app
from support.process import processor_seconds, serve
from support.rows import multiply

_ROWS = 10_000
_PAGE = 20
_CONNECTIONS = 4
_REQUESTS = 100
"""On each connection, in each round."""
_ROUNDS = 9

_VISIBLE = """
    organisation_id = ? AND (visibility = 'workspace' OR user_id = ?)
    AND (expires_at IS NULL OR expires_at > ?)
"""


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, serve(Path(name, "data")) as server:
        with connect(server) as http:
            http.post("/v1/files", files={"file": b"A page."}).raise_for_status()
            library = new_library(http)
            library.processed("page.txt", b"A page.")
        database = server.data / "carrel.db"
        multiply(database, "files", _ROWS)
        with peer(serve_app, _app, database) as port:
            for total in (True, False):
                path = f"?page_size={_PAGE}&page=3&include_total={total}".lower()
                times = in_turn(
                    _ROUNDS,
                    partial(_load, port, f"/files{path}"),
                    partial(_load, server.port, f"/v1/files{path}", server.api_key),
                )
                ours = _CONNECTIONS * _REQUESTS / median(carrel for _, carrel in times)
                yield Figure(
                    f"share of FastAPI's requests, {'with' if total else 'without'} the total",
                    median(bare / carrel for bare, carrel in times),
                    0.9,
                    detail=f"{ours:.0f} a second, the middle of {_ROUNDS} rounds",
                )
        multiply(database, "documents", _ROWS, blob="blob || n", name="name || n")
        for name, page in (("first", 0), ("last", _ROWS // 100 - 1)):
            path = f"{library.path}/documents?page={page}"
            before = processor_seconds(server.process.pid)
            _load(server.port, path, server.api_key)
            spent = processor_seconds(server.process.pid) - before
            yield Figure(
                f"{name} page of 100 documents, ms of processor",
                1000 * spent / (_CONNECTIONS * _REQUESTS),
                10,
                "lower",
            )


def _app(database: Path) -> ASGIApp:
    app = FastAPI()
    local = threading.local()

    def connection() -> sqlite3.Connection:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(database)
            local.connection.row_factory = sqlite3.Row
        own: sqlite3.Connection = local.connection
        return own

    organisation, user = connection().execute("SELECT organisation_id, id FROM users").fetchone()

    @app.get("/files")
    def files(page: int, page_size: int, include_total: bool) -> FileList:
        visible = (organisation, user, time.time_ns() // 1000)
        rows = connection().execute(
            f"SELECT * FROM files WHERE {_VISIBLE}"
            " ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
            (*visible, page_size, page * page_size),
        )
        data = [File(**{**row, "created_at": row["created_at"] // 1_000_000}) for row in rows]
        total = None
        if include_total:
            count = f"SELECT count(*) FROM files WHERE {_VISIBLE}"
            (total,) = connection().execute(count, visible).fetchone()
        return FileList(data=data, total=total)

    return app


def _load(port: int, path: str, key: str = "") -> float:
    request = head("GET", path, key)

    def ask(_: int) -> None:
        with call(port) as connection:
            answers = Answers(connection)
            for _ in range(_REQUESTS):
                connection.sendall(request)
                answers.read()

    began = time.perf_counter()
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        list(pool.map(ask, range(_CONNECTIONS)))
    return time.perf_counter() - began
