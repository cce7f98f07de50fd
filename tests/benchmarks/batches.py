"""A document read a few pages at a time costs little more than read at once.

A PDF of 100 digital pages is read by a real server, over its socket, with connections that stay
open: in one request, and in turn by requests for 4 pages each, one after the other, as a workbench
does that shows its progress. Nothing is remembered meanwhile. For information: one request a page,
batches of a scan (every page of which needs OCR), and what is asked for a second time where pages
are remembered.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.digital_pages import PAGES, SETTLE_SECONDS, book
from benchmarks.report import Figure
from support.documents import scanned_pdf
from support.process import serve

BATCH = 4
ROUNDS = 7
SCANNED = 8
BOUND = 1.5
"""Times as long. One request reads ahead: its next pages are parsed while those before are put
together, on another core where one is free. A batch has its first pages to wait for."""


class _Document:
    """A document on a server."""

    def __init__(self, http: httpx.Client, path: Path, pages: int) -> None:
        with path.open("rb") as file:
            answer = http.post("/v1/files", files={"file": file}, data={"purpose": "ocr"})
        self._http = http
        self._document = {"file_id": answer.raise_for_status().json()["id"]}
        self._pages = pages

    def read(self, batch: int | None) -> float:
        """The seconds that the whole document takes, `batch` pages at a time."""
        size = batch or self._pages
        began = time.perf_counter()
        for start in range(0, self._pages, size):
            pages = f"{start}-{min(start + size, self._pages) - 1}" if batch else None
            body = {"model": None, "document": self._document, "pages": pages}
            self._http.post("/v1/ocr", json=body).raise_for_status()
        return time.perf_counter() - began


@contextmanager
def _server(folder: Path, remembered: int) -> Iterator[httpx.Client]:
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
        yield http


def _medians(rounds: int, *ways: Callable[[], float]) -> list[float]:
    """The median seconds of each way; they take turns."""
    times: list[list[float]] = [[] for _ in ways]
    for way in ways:
        way()
    for _ in range(rounds):
        for way, seconds in zip(ways, times, strict=True):
            time.sleep(SETTLE_SECONDS)
            seconds.append(way())
    return [statistics.median(seconds) for seconds in times]


def _figure(name: str, seconds: float, whole: float, pages: int, bound: float | None) -> Figure:
    detail = f"{1000 * seconds / pages:.1f} ms / {1000 * whole / pages:.1f} ms a page"
    return Figure(name, seconds / whole, bound, "lower", detail)


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = book(folder / "book.pdf")
        with _server(folder, 0) as http:
            document = _Document(http, path, PAGES)
            whole, batches, single = _medians(
                ROUNDS,
                lambda: document.read(None),
                lambda: document.read(BATCH),
                lambda: document.read(1),
            )
            scan = _Document(http, scanned_pdf(folder / "scan.pdf", SCANNED), SCANNED)
            scanned, in_batches = _medians(2, lambda: scan.read(None), lambda: scan.read(BATCH))
        with _server(folder, 2**28) as http:
            document = _Document(http, path, PAGES)
            (again,) = _medians(ROUNDS, lambda: document.read(BATCH))
    yield _figure(f"batches of {BATCH} pages / one request", batches, whole, PAGES, BOUND)
    yield _figure("one page at a time / one request", single, whole, PAGES, None)
    yield _figure(f"a scan in batches of {BATCH} / one request", in_batches, scanned, SCANNED, None)
    yield _figure(f"remembered, in batches of {BATCH} / one request", again, whole, PAGES, None)
