"""Corrections of words, stored beside the unchanged reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import TextPassage, boxes, passages
from carrel.store.documents.marks import TextMark, doubtful_marks, words
from carrel.system.jsonl import append_line, read_lines

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

WordKey = tuple[int, int, str]
"""A word's page from 0, its offset in the page's Markdown, and the word as read: a correction does
not apply to another reading."""
Corrections = Mapping[WordKey, str]


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word of a page; `corrected` is None if it is unchanged."""

    mark: TextMark
    corrected: str | None


class SavedCorrections:
    """The local corrections of documents: append-only, one file a document, named by its hash. The
    last line of a word counts."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "corrections"

    def load(self, hash: str) -> Corrections:
        """Return the corrections of a document."""
        found: dict[WordKey, str] = {}
        for page, start, read, corrected in read_lines(self._path(hash)):
            key = (int(page), int(start), str(read))
            found.pop(key, None)
            if corrected is not None:
                found[key] = str(corrected)
        return found

    def add(self, hash: str, key: WordKey, corrected: str | None) -> Corrections:
        """Correct a word, or undo with None; return all corrections."""
        append_line(self._path(hash), [*key, corrected])
        return self.load(hash)

    def _path(self, hash: str) -> Path:
        return self._folder / f"{hash}.jsonl"


def key_of(mark: TextMark) -> WordKey:
    """Return the key of a marked word."""
    return mark.page, mark.start, mark.text


def doubtful_words(pages: Iterable[Page | None], corrections: Corrections) -> tuple[ReadWord, ...]:
    """Return the doubtful and corrected words of the read pages in order."""
    found: list[ReadWord] = []
    for page in pages:
        if page is not None:
            fixed = corrected_marks(page, corrections)
            listed = {key_of(mark): mark for mark in (*doubtful_marks(page), *fixed)}
            ordered = sorted(listed.values(), key=lambda mark: mark.start)
            found += [ReadWord(mark, corrections.get(key_of(mark))) for mark in ordered]
    return tuple(found)


def page_words(page: Page | None, corrections: Corrections) -> tuple[ReadWord, ...]:
    """Return every word of a page, in order."""
    found = () if page is None else words(page)
    return tuple(ReadWord(mark, corrections.get(key_of(mark))) for mark in found)


def corrected_marks(page: Page, corrections: Corrections) -> tuple[TextMark, ...]:
    """Return the corrected words of a page, each with its correction."""
    return tuple(
        TextMark(number, start, start + len(read), "corrected", read, correction=correction)
        for (number, start, read), correction in sorted(corrections.items())
        if number == page.index and page.markdown.startswith(read, start)
    )


def apply_corrections(page: Page, corrections: Corrections) -> str:
    """Return the page's Markdown with its corrections applied."""
    return _apply(TextPassage(page.markdown, 0, None), corrected_marks(page, corrections))


def corrected_page(page: Page, corrections: Corrections) -> Page:
    """Return the page with its corrections in the Markdown and in the blocks, tables among them."""
    fixed = corrected_marks(page, corrections)
    if not fixed:
        return page
    texts = {one.block: _apply(one, fixed) for one in passages(page) if one.start is not None}
    blocks = [
        block.model_copy(update={"content": texts.get(number, block.content)})
        for number, block in enumerate(page.blocks or ())
    ]
    markdown = apply_corrections(page, corrections)
    return page.model_copy(update={"markdown": markdown, "blocks": blocks or page.blocks})


def _apply(passage: TextPassage, fixed: Iterable[TextMark]) -> str:
    """Return a passage's text with the corrections in it."""
    text = passage.text
    for mark in sorted(fixed, key=lambda mark: -mark.start):
        if span := passage.spans(mark.start, mark.end):
            text = text[: span[0]] + (mark.correction or "") + text[span[1] :]
    return text


def place_of(page: Page, mark: TextMark) -> tuple[Rect, tuple[str, ...], int] | None:
    """Return the block of a word: its place, its words, and which of them it is.

    None if its block has no position.
    """
    passage = next((one for one in passages(page) if one.spans(mark.start, mark.end)), None)
    box = next((one for one in boxes(page) if passage and one.block == passage.block), None)
    if passage is None or box is None:
        return None
    own = [word for word in words(page) if passage.spans(word.start, word.end)]
    at = next((at for at, word in enumerate(own) if word.overlaps(mark)), None)
    return None if at is None else (box.rect, tuple(word.text for word in own), at)
