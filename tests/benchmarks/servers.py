"""One server on SQLite and a folder, against 1, 2 and 4 servers and workers on PostgreSQL and S3.

Processing: small digital documents from upload to `done`, uploaded by eight connections. Reading:
lists, documents, their texts and searches in turn, by eight connections. All of it is on this
machine, which its cores limit: the figures say what sharing the storage costs, and from more
machines on what the two stores and the cores there allow.
"""

import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

from benchmarks.processing import DOCUMENTS, documents, until_done
from benchmarks.report import Figure
from support import storage
from support.libraries import LibraryUnderTest, connect, new_library
from support.postgres import postgres_server
from support.process import RunningServer, serve, work

_COUNTS = (1, 2, 4)
_CONNECTIONS = 8
_READ_SECONDS = 5.0


def measure() -> Iterable[Figure]:
    """Documents and requests a second, and their share of the single server's."""
    with tempfile.TemporaryDirectory() as temporary:
        paths = documents(Path(temporary))
        with serve(Path(temporary, "alone")) as server:
            alone = _rates([server], paths)
        yield Figure("one server on SQLite, documents a second", alone[0])
        yield Figure("one server on SQLite, reads a second", alone[1])
        for count in _COUNTS:
            with _team(Path(temporary, str(count)), count) as servers:
                processed, read = _rates(servers, paths)
            yield Figure(
                f"{count} workers, share of the single server's documents",
                processed / alone[0],
                detail=f"{processed:.1f} a second",
            )
            yield Figure(
                f"{count} servers, share of the single server's reads",
                read / alone[1],
                detail=f"{read:.0f} a second",
            )


@contextmanager
def _team(folder: Path, count: int) -> Iterator[list[RunningServer]]:
    """Servers that leave all jobs to as many workers, on empty PostgreSQL and S3."""
    folder.mkdir()
    with patch.object(storage, "SHARED", True), ExitStack() as stack:
        database = postgres_server().migrated(uuid4().hex)
        options = ("--database", database, "--blobs", f"s3://benchmarks/{uuid4().hex}")
        for number in range(count):
            stack.enter_context(work(folder / f"worker-{number}", *options))
        yield [
            stack.enter_context(serve(folder / f"server-{number}", *options, "--no-worker"))
            for number in range(count)
        ]


def _rates(servers: Sequence[RunningServer], paths: Sequence[Path]) -> tuple[float, float]:
    """Documents a second from upload to done, and reads a second after that."""
    with ExitStack() as stack:
        clients = cycle([stack.enter_context(connect(server)) for server in servers])
        library = new_library(next(clients))
        library.processed("warm.pdf", paths[0].read_bytes() + b"\n")
        places = [LibraryUnderTest(next(clients), library.id) for _ in range(_CONNECTIONS)]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            began = time.perf_counter()
            turns = zip(cycle(places), paths, strict=False)
            ids = list(
                pool.map(lambda turn: turn[0].add(turn[1].name, turn[1].read_bytes()), turns)
            )
            until_done(library)
            processed = DOCUMENTS / (time.perf_counter() - began)

            stop = threading.Event()
            reading = [pool.submit(_read, place, ids, stop) for place in places]
            stop.wait(_READ_SECONDS)
            stop.set()
            read = sum(done.result() for done in reading) / _READ_SECONDS
    return processed, read


def _read(library: LibraryUnderTest, ids: Sequence[str], stop: threading.Event) -> int:
    """Reads until told to stop; returns the number of requests."""
    for count, id in enumerate(cycle(ids)):
        if stop.is_set():
            return count
        match count % 4:
            case 0:
                library.documents(page_size=20)
            case 1:
                library.document(id)
            case 2:
                library.text(id)
            case 3:
                library.search(f"garden {count % DOCUMENTS} trees")
    return 0
