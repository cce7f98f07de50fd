"""Cached OCR results: a document reopens at once, and no page is billed twice.

One file per document and options, with one line per answer of the service.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.cache.copies import make_room
from carrel.system.hashes import hashed_name

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


class ResultCache:
    """Cached OCR results in a folder of copies."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    async def load(self, key: str) -> KeptResult:
        """Return the result of a key, empty if there is none."""
        return await asyncio.to_thread(_load, results_file(self._cache, key))

    async def add(self, key: str, answer: KeptResult) -> None:
        """Add an answer; its pages replace older pages of the same numbers."""
        await asyncio.to_thread(_add, results_file(self._cache, key), answer)

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
    try:
        text = path.read_text("utf-8")
        path.touch()  # least recently used is evicted first
    except FileNotFoundError:
        return found
    for line in text.splitlines():
        try:
            answer = json.loads(line)
            pages = [Page.model_validate(page) for page in answer["pages"]]
        except (ValueError, KeyError, TypeError, ValidationError):
            continue  # a line that was truncated, or written by another version
        found.pages |= {page.index: page for page in pages}
        found.page_count = answer.get("page_count") or found.page_count
        found.annotation = answer.get("annotation") or found.annotation
    return found


def _add(path: Path, answer: KeptResult) -> None:
    line = {
        "pages": [page.model_dump(mode="json") for page in answer.pages.values()],
        "page_count": answer.page_count,
        "annotation": answer.annotation,
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        # Line break first, so that an earlier truncated line spoils only itself.
        file.write("\n" + json.dumps(line))
    make_room(path.parent, {path}, RESULTS_BYTES)


def _forget(path: Path, pages: Iterable[int] | None) -> None:
    kept = KeptResult() if pages is None else _load(path)
    for page in pages or ():
        kept.pages.pop(page, None)
    path.unlink(missing_ok=True)
    if kept.pages:
        _add(path, kept)
