"""What a page costs: the figures that docs/planning.md reckons with.

A library of digital PDFs and of dense scans, processed by a real server. For information: without
bounds, since each is a size or depends on the machine.
"""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from benchmarks.digital_pages import book
from benchmarks.report import Figure
from support.documents import page_pictures
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import family_seconds, serve

BOOKS = range(10, 30)
"""Pages of each book."""
SCANS, REQUESTS = 10, 200
_KB = 1000


def measure() -> Iterable[Figure]:
    """Bytes and seconds of a page, digital and scanned."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "data"
        books = [_book(folder, pages) for pages in BOOKS]
        scans = _scans(folder, books[0])
        with serve(data) as server, connect(server) as http:
            library = new_library(http)
            library.processed("warm.png", scans[0].read_bytes() + b"\n")
            own = server.process.pid
            before = family_seconds(own)
            digital = sum(BOOKS) / _seconds(library, books)
            cost = (family_seconds(own) - before) / sum(BOOKS)
            digital_kb = _kilobytes(data) / sum(BOOKS)
            before = family_seconds(own)
            scanned = SCANS / _seconds(library, scans)
            scan_cost = (family_seconds(own) - before) / SCANS
            lists = _processor_ms(own, lambda: library.documents())
            searches = _processor_ms(own, lambda: library.search("chance of the garden"))
        chunks, vectors, sentences = _chunks(data)
    pages = sum(BOOKS) + SCANS + 1
    yield Figure("digital pages a second, upload to done", digital)
    yield Figure("processor seconds a digital page", cost, better="lower")
    yield Figure("scanned pages a second, upload to done", scanned)
    yield Figure("processor seconds a scanned page", scan_cost, better="lower")
    yield Figure("processor ms a list of documents", lists, better="lower")
    yield Figure("processor ms a search", searches, better="lower")
    yield Figure("kB of records a digital page, indexes included", digital_kb, better="lower")
    yield Figure("chunks a page", chunks / pages, better="lower")
    yield Figure("kB of vectors a chunk", vectors / chunks / _KB, better="lower")
    yield Figure("kB of sentence vectors a chunk", sentences / chunks / _KB, better="lower")


def _book(folder: Path, pages: int) -> Path:
    path = folder / f"{pages}.pdf"
    book(path, pages)
    return path


def _scans(folder: Path, source: Path) -> list[Path]:
    paths = []
    for number, page in enumerate(page_pictures(source, 150)[:SCANS]):
        path = folder / f"{number}.png"
        page.save(path)
        paths.append(path)
    return paths


def _seconds(library: LibraryUnderTest, paths: list[Path]) -> float:
    began = time.perf_counter()
    ids = [library.add(path.name, path.read_bytes()) for path in paths]
    for id in ids:
        assert library.finished(id, 280)["process_status"] == "done"
    return time.perf_counter() - began


def _processor_ms(process: int, ask: Callable[[], object]) -> float:
    before = family_seconds(process)
    for _ in range(REQUESTS):
        ask()
    return 1000 * (family_seconds(process) - before) / REQUESTS


def _kilobytes(data: Path) -> float:
    with closing(sqlite3.connect(data / "carrel.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (data / "carrel.db").stat().st_size / _KB


def _chunks(data: Path) -> tuple[int, int, int]:
    """Number of chunks, and the bytes of their two kinds of vectors."""
    with closing(sqlite3.connect(data / "carrel.db")) as connection:
        query = "SELECT count(*), sum(length(vector)), sum(length(sentences)) FROM vectors"
        [found] = connection.execute(query)
        return int(found[0]), int(found[1] or 0), int(found[2] or 0)
