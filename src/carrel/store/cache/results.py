"""Cached OCR results: a document reopens at once, and no page is billed twice.

One file per document and options, with one line per answer of the service.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.cache.copies import make_room
from carrel.system.hashes import hashed_name
from carrel.system.jsonl import append_line, read_lines

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

RESULTS_BYTES = 256 * 1024 * 1024
"""Size limit of the results in bytes; the least recently used are evicted."""


@dataclass
class KeptResult:
    """The cached result of a document: pages by number, from 0.

    `page_count` is known after a request for the whole document; `annotation` is JSON text.
    """

    pages: dict[int, Page] = field(default_factory=dict)
    page_count: int | None = None
    annotation: str | None = None

    def merge(self, other: KeptResult) -> None:
        """Add another result; its pages replace older pages of the same numbers."""
        self.pages |= other.pages
        self.page_count = other.page_count or self.page_count
        self.annotation = other.annotation or self.annotation


@dataclass(eq=False)
class Reading:
    """One of the readings of a document that run at once: they ask in turn and share the answers.

    `news` are the answers, its own included, since it last took them.
    """

    key: str
    turn: asyncio.Lock
    news: KeptResult | None = None

    def take(self) -> KeptResult:
        """Return the news, and begin to collect anew."""
        news, self.news = self.news or KeptResult(), None
        return news


class ResultCache:
    """Cached OCR results in a folder of copies."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._readings: dict[str, list[Reading]] = {}

    @contextmanager
    def reading(self, key: str) -> Iterator[Reading]:
        """Take part in the reading of a document; what is cached is loaded afterwards."""
        running = self._readings.setdefault(key, [])
        # One turn for all readings of a document: a page that two calls want is billed once.
        reading = Reading(key, running[0].turn if running else asyncio.Lock())
        running.append(reading)
        try:
            yield reading
        finally:
            running.remove(reading)
            if not running:
                del self._readings[key]

    async def load(self, key: str) -> KeptResult:
        """Return the result of a key, empty if there is none."""
        return await asyncio.to_thread(_load, results_file(self._cache, key))

    async def add(self, key: str, answer: KeptResult) -> None:
        """Add an answer, for the readings that run as well."""
        await asyncio.to_thread(_add, results_file(self._cache, key), answer)
        for reading in self._readings.get(key, ()):
            reading.news = reading.news or KeptResult()
            reading.news.merge(answer)

    async def forget(self, key: str, pages: Iterable[int] | None = None) -> None:
        """Remove pages of a result, or all of it."""
        await asyncio.to_thread(_forget, results_file(self._cache, key), pages)


def results_file(cache: Path, key: str) -> Path:
    """Return the path of a key's result in a folder of copies."""
    return cache / "results" / f"{hashed_name(key)}.jsonl"


def _load(path: Path) -> KeptResult:
    from pydantic import ValidationError

    from carrel.wire.ocr import Page

    found = KeptResult()
    with suppress(OSError):
        os.utime(path)  # least recently used is evicted first
    for answer in read_lines(path):
        try:
            pages = [Page.model_validate(page) for page in answer["pages"]]
        except (ValueError, KeyError, TypeError, ValidationError):
            continue  # written by another version
        by_number = {page.index: page for page in pages}
        found.merge(KeptResult(by_number, answer.get("page_count"), answer.get("annotation")))
    return found


def _add(path: Path, answer: KeptResult) -> None:
    line = {
        "pages": [page.model_dump(mode="json") for page in answer.pages.values()],
        "page_count": answer.page_count,
        "annotation": answer.annotation,
    }
    append_line(path, line)
    make_room(path.parent, {path}, RESULTS_BYTES)


def _forget(path: Path, pages: Iterable[int] | None) -> None:
    kept = KeptResult() if pages is None else _load(path)
    for page in pages or ():
        kept.pages.pop(page, None)
    path.unlink(missing_ok=True)
    if kept.pages:
        _add(path, kept)
