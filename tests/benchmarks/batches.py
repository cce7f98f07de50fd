"""A document read a few pages at a time costs little more than read at once.

A PDF of 100 digital pages is read by a real server, over its socket, with connections that stay
open: in one request, and in turn by requests for 4 pages each, one after the other, as a workbench
does that shows its progress. Nothing is remembered meanwhile. For information: the processor time
of the server with its parsers, one request a page, batches of a scan (every page of which needs
OCR), and what is asked for a second time where pages are remembered. Needs Linux's /proc.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.digital_pages import PAGES, SETTLE_SECONDS, Cost, book
from benchmarks.report import Figure
from support.documents import scanned_pdf
from support.process import family_seconds, serve

BATCH = 4
ROUNDS = 7
SCANNED = 8
BOUND = 1.5
"""Times as long. In both ways the next pages are parsed while those before are put together, on
another core where one is free; a batch has its own way through the server besides."""


class _Document:
    """A document on a server."""

    def __init__(self, server: int, http: httpx.Client, path: Path, pages: int) -> None:
        """`server` is the process's number."""
        with path.open("rb") as file:
            answer = http.post("/v1/files", files={"file": file}, data={"purpose": "ocr"})
        self._server = server
        self._http = http
        self._document = {"file_id": answer.raise_for_status().json()["id"]}
        self._pages = pages

    def read(self, batch: int | None) -> Cost:
        """What the whole document takes, `batch` pages at a time."""
        size = batch or self._pages
        used, began = family_seconds(self._server), time.perf_counter()
        for start in range(0, self._pages, size):
            pages = f"{start}-{min(start + size, self._pages) - 1}" if batch else None
            body = {"model": None, "document": self._document, "pages": pages}
            self._http.post("/v1/ocr", json=body).raise_for_status()
        clock = time.perf_counter() - began
        # The process that read a document ends after its last page.
        time.sleep(SETTLE_SECONDS)
        return Cost(family_seconds(self._server) - used, clock)


@contextmanager
def _server(folder: Path, remembered: int) -> Iterator[tuple[int, httpx.Client]]:
    data = folder / f"data-{remembered}"
    data.mkdir()
    (data / "settings.toml").write_text(f"[limits]\nremembered_bytes = {remembered}\n")
    with (
        serve(data) as server,
        httpx.Client(
            base_url=server.url,
            headers={"authorization": f"Bearer {server.api_key}"},
            timeout=300,
            trust_env=False,
        ) as http,
    ):
        yield server.process.pid, http


def _medians(rounds: int, *ways: Callable[[], Cost]) -> list[Cost]:
    """The median cost of each way; they take turns."""
    costs: list[list[Cost]] = [[] for _ in ways]
    for way in ways:
        way()
    for _ in range(rounds):
        for way, found in zip(ways, costs, strict=True):
            found.append(way())
    return [Cost(*map(statistics.median, zip(*found, strict=True))) for found in costs]


def _figures(
    name: str, cost: Cost, whole: Cost, pages: int, bound: float | None = None
) -> Iterator[Figure]:
    for kind, one, other in (("CPU time", cost.cpu, whole.cpu), ("time", cost.clock, whole.clock)):
        detail = f"{1000 * one / pages:.1f} ms / {1000 * other / pages:.1f} ms a page"
        kept = bound if kind == "time" else None
        yield Figure(f"{name}: {kind} / one request", one / other, kept, "lower", detail)


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = book(folder / "book.pdf")
        with _server(folder, 0) as server:
            document = _Document(*server, path, PAGES)
            whole, batches, single = _medians(
                ROUNDS,
                lambda: document.read(None),
                lambda: document.read(BATCH),
                lambda: document.read(1),
            )
            scan = _Document(*server, scanned_pdf(folder / "scan.pdf", SCANNED), SCANNED)
            scanned, in_batches = _medians(2, lambda: scan.read(None), lambda: scan.read(BATCH))
        with _server(folder, 2**28) as server:
            document = _Document(*server, path, PAGES)
            (again,) = _medians(ROUNDS, lambda: document.read(BATCH))
    yield from _figures(f"batches of {BATCH} pages", batches, whole, PAGES, BOUND)
    yield from _figures("one page at a time", single, whole, PAGES)
    yield from _figures(f"a scan in batches of {BATCH}", in_batches, scanned, SCANNED)
    yield from _figures(f"remembered, in batches of {BATCH}", again, whole, PAGES)
