"""A real server that is killed again and again while clients work on it, and what it then holds."""

import hashlib
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from carrel.server.records.sql.tables import trash_rows
from support import storage
from support.libraries import connect
from support.process import RunningServer, serve

_CLIENTS = 4
Work = Callable[[httpx.Client, random.Random], None]


def storm(
    data: Path,
    kills: int,
    work: Work,
    *arguments: str,
    seconds: tuple[float, float] = (0, 1.2),
) -> None:
    """Lets clients do their work over and over, and each time kills the server meanwhile.

    The kill comes so many seconds, at random, after the first piece of work was done.
    """
    chance = random.Random(kills)

    def client(server: RunningServer, seed: int) -> None:
        own = random.Random(seed)
        with connect(server) as http, suppress(httpx.TransportError):
            while True:
                work(http, own)
                worked.set()

    for kill in range(kills):
        worked = threading.Event()
        with serve(data, *arguments) as server, ThreadPoolExecutor(_CLIENTS) as pool:
            clients = [pool.submit(client, server, kill * _CLIENTS + n) for n in range(_CLIENTS)]
            any_work = worked.wait(60)
            time.sleep(chance.uniform(*seconds))
            server.process.kill()
            for done in clients:
                done.result(30)
            assert any_work, "nothing was done within a minute"


def rows(data: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query finds in a server's database."""
    with storage.connected(data, reading=True) as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def named_blobs(data: Path) -> set[str]:
    """The hashes that the records name, those of the trash included."""
    query = """
        SELECT blob FROM files UNION SELECT blob FROM documents UNION SELECT ocr_blob FROM documents
    """
    named = {hash for (hash,) in rows(data, query) if hash}
    with storage.connected(data) as connection:
        deleted = list(connection.scalars(sa.select(trash_rows.c.row)))
    return named | {row[key] for row in deleted for key in ("blob", "ocr_blob") if row.get(key)}


class Uploads:
    """Uploads files of all sizes, and remembers those that were answered."""

    def __init__(self, *sizes: int) -> None:
        self._sizes = sizes
        self.answered = dict[str, str]()
        """The SHA-256 of each, by its id."""

    def upload(self, http: httpx.Client, chance: random.Random) -> None:
        content = chance.randbytes(chance.choice(self._sizes))
        answer = http.post("/v1/files", files={"file": ("a.bin", content)})
        assert answer.status_code == 200, answer.text
        self.answered[answer.json()["id"]] = hashlib.sha256(content).hexdigest()

    def check(self, http: httpx.Client) -> int:
        """Every answered file is there, whole; returns how many files there are."""
        for id, hash in self.answered.items():
            content = http.get(f"/v1/files/{id}/content").content
            assert hashlib.sha256(content).hexdigest() == hash
        total = int(http.get("/v1/files").json()["total"])
        assert len(self.answered) <= total
        return total
