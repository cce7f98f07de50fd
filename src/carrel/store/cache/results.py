"""What was read, kept on this machine: reopening is instant, and no page is billed twice.

A file for each document and way of reading it, a line for each answer of the service.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.config import folders
from carrel.store.cache.copies import make_room

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

RESULTS_BYTES = 256 * 1024 * 1024
"""How large the folder of results may grow before the oldest go."""


@dataclass
class Result:
    """What is known of a document: its pages by number, from 0.

    `page_count` is known once the whole document was asked for, `annotation` is JSON text.
    """

    pages: dict[int, Page] = field(default_factory=dict)
    page_count: int | None = None
    annotation: str | None = None


class Results:
    async def load(self, key: str) -> Result:
        """What was kept under a key."""
        return await asyncio.to_thread(_load, results_file(key))

    async def add(self, key: str, answer: Result) -> None:
        """Keeps an answer beside those that are there; its pages take the place of older ones."""
        await asyncio.to_thread(_add, results_file(key), answer)

    async def forget(self, key: str, pages: Iterable[int] | None = None) -> None:
        """Forgets what is kept under a key: these pages alone, or everything."""
        await asyncio.to_thread(_forget, results_file(key), pages)


def results_file(key: str) -> Path:
    """Where what is read of a key is kept."""
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    return folders().cache / "results" / f"{name}.jsonl"


def _load(path: Path) -> Result:
    from pydantic import ValidationError

    from carrel.wire.ocr import Page

    found = Result()
    try:
        text = path.read_text("utf-8")
        path.touch()  # the oldest go first
    except FileNotFoundError:
        return found
    for line in text.splitlines():
        try:
            answer = json.loads(line)
            pages = [Page.model_validate(page) for page in answer["pages"]]
        except (ValueError, KeyError, TypeError, ValidationError):
            continue  # a line that was cut off, or written by another version
        found.pages |= {page.index: page for page in pages}
        found.page_count = answer.get("page_count") or found.page_count
        found.annotation = answer.get("annotation") or found.annotation
    return found


def _add(path: Path, answer: Result) -> None:
    line = {
        "pages": [page.model_dump(mode="json") for page in answer.pages.values()],
        "page_count": answer.page_count,
        "annotation": answer.annotation,
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        # The line break first: a line that was cut off before spoils only itself.
        file.write("\n" + json.dumps(line))
    make_room(path.parent, {path}, RESULTS_BYTES)


def _forget(path: Path, pages: Iterable[int] | None) -> None:
    kept = Result() if pages is None else _load(path)
    for page in pages or ():
        kept.pages.pop(page, None)
    path.unlink(missing_ok=True)
    if kept.pages:
        _add(path, kept)
