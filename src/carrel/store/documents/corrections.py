"""Corrections of doubtful words, beside the reading, which stays as it is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import boxes, passages
from carrel.store.documents.marks import TextMark, doubtful

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

WINDOW = 0.08
"""Height of the picture around a word in a block of several lines, in parts of the page."""

WordKey = tuple[int, int, str]
"""A word's page from 0, where it starts in the page's Markdown, and the word as read: a
correction does not fit another reading."""
Corrections = Mapping[WordKey, str]


@dataclass(frozen=True, slots=True)
class DoubtfulWord:
    """A word below DOUBTFUL; `corrected` is None while it is as read."""

    mark: TextMark
    corrected: str | None


class SavedCorrections:
    """The corrections of documents on this machine, one file a document, by the hash of its
    bytes. Each is a line, so that none is lost or half; the last one of a word counts."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "corrections"

    def load(self, hash: str) -> Corrections:
        """Return the corrections of a document."""
        try:
            lines = self._path(hash).read_text("utf-8").splitlines()
        except OSError:
            return {}
        found: dict[WordKey, str] = {}
        for line in lines:
            try:
                page, start, read, corrected = json.loads(line)
            except (ValueError, TypeError):
                continue  # empty or cut off
            key = (int(page), int(start), str(read))
            found.pop(key, None)
            if corrected is not None:
                found[key] = str(corrected)
        return found

    def add(self, hash: str, key: WordKey, corrected: str | None) -> Corrections:
        """Corrects a word, or with None takes that back; gives all corrections."""
        path = self._path(hash)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            # Line break first, so that an earlier truncated line spoils only itself.
            file.write("\n" + json.dumps([*key, corrected], ensure_ascii=False))
        return self.load(hash)

    def _path(self, hash: str) -> Path:
        return self._folder / f"{hash}.jsonl"


def key_of(mark: TextMark) -> WordKey:
    """Return the key of a doubtful word."""
    return mark.page, mark.start, mark.text


def doubtful_words(
    pages: Iterable[Page | None], corrections: Corrections
) -> tuple[DoubtfulWord, ...]:
    """Return the doubtful words of the pages that are read, in their order."""
    return tuple(
        DoubtfulWord(mark, corrections.get(key_of(mark)))
        for page in pages
        if page is not None
        for mark in doubtful(page)
    )


def corrected(page: Page, corrections: Corrections) -> str:
    """Return the page's Markdown with its corrections."""
    text = page.markdown
    fitting = [
        (start, read, words)
        for (number, start, read), words in corrections.items()
        if number == page.index and text.startswith(read, start)
    ]
    for start, read, words in sorted(fitting, reverse=True):
        text = text[:start] + words + text[start + len(read) :]
    return text


def around(page: Page, mark: TextMark) -> Rect | None:
    """Return the part of the page around a word, if its block has a place.

    Of a block of several lines it is a window; lines are taken to be equally long.
    """
    passage = next((one for one in passages(page) if one.spans(mark.start, mark.end)), None)
    box = next((one for one in boxes(page) if passage and one.block == passage.block), None)
    if passage is None or passage.start is None or box is None:
        return None
    rect = box.rect
    if rect.height <= WINDOW:
        return rect
    share = (mark.start - passage.start) / max(1, len(passage.text))
    top = rect.top + share * rect.height - WINDOW / 2
    top = min(max(top, rect.top), rect.top + rect.height - WINDOW)
    return Rect(rect.left, top, rect.width, WINDOW)
