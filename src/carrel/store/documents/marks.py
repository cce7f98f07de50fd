"""Marks in a page's text: words, doubtful and corrected ones, and search hits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.documents.blocks import per_page
from carrel.store.documents.boxes import TextPassage, heat_of

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

MarkKind = Literal["doubtful", "fair", "sure", "corrected", "hit"]
MarkRole = Literal["doubtful", "fair", "corrected", "hit", "chosen"]

# Zero-width characters that no text needs: they survive a Markdown renderer.
_BEGIN: dict[MarkRole, str] = {
    "doubtful": "\u2061",
    "hit": "\u2062",
    "chosen": "\u2063",
    "fair": "\u2060",
    "corrected": "\u206a",
}
_END = "\u2064"
_ROLES = {character: role for role, character in _BEGIN.items()}
_SIGNS = re.compile(f"[{''.join(_ROLES)}{_END}]")
_ENCODED = re.compile("%E2%81%A[0-4A]")
_WIDTHLESS = "\u200b"
_WORD = re.compile(r"[^\s|]*\w[^\s|]*")
_EMPHASIS = "*_`~#>"


@dataclass(frozen=True, slots=True)
class TextMark:
    """A span of a page's Markdown; `sure` is the confidence of a scored word, from 0 to 1.

    `correction` replaces a corrected word.
    """

    page: int
    start: int
    end: int
    kind: MarkKind
    text: str
    sure: float | None = None
    correction: str | None = None

    def overlaps(self, other: TextMark) -> bool:
        """Return whether two marks share a character."""
        return self.start < other.end and other.start < self.end


@per_page
def words(page: Page) -> tuple[TextMark, ...]:
    """Return every word of a page: as the service scored them, else split at blanks."""
    scored = _score_words(page)
    taken = {at for mark in scored for at in range(mark.start, mark.end)}
    found = [*scored]
    for match in _WORD.finditer(page.markdown):
        text = match[0].strip(_EMPHASIS)
        start = match.start() + match[0].index(text)
        if taken.isdisjoint(range(start, start + len(text))):
            found.append(TextMark(page.index, start, start + len(text), "sure", text))
    return tuple(sorted(found, key=lambda mark: mark.start))


@per_page
def heat(page: Page) -> tuple[TextMark, ...]:
    """Return the words of a page with a confidence below FAIR."""
    return tuple(mark for mark in _score_words(page) if mark.kind != "sure")


@per_page
def _score_words(page: Page) -> tuple[TextMark, ...]:
    scores = page.confidence_scores
    found = []
    for word in (scores and scores.word_confidence_scores) or ():
        if text := word.text.strip():
            kind = heat_of(word.confidence) or "sure"
            start = word.start_index + len(word.text) - len(word.text.lstrip())
            end = start + len(text)
            found.append(TextMark(page.index, start, end, kind, text, word.confidence))
    return tuple(found)


@per_page
def doubtful_marks(page: Page) -> tuple[TextMark, ...]:
    """Return the words of a page with a confidence below DOUBTFUL."""
    return tuple(mark for mark in heat(page) if mark.kind == "doubtful")


def hits(page: Page, query: str) -> tuple[TextMark, ...]:
    """Return the consecutive occurrences of a query's words in a page, ignoring case."""
    pattern = r"\s+".join(map(re.escape, query.split()))
    if not pattern:
        return ()
    return tuple(
        TextMark(page.index, match.start(), match.end(), "hit", match[0])
        for match in re.finditer(pattern, page.markdown, re.IGNORECASE)
    )


def marks(page: Page, query: str) -> tuple[TextMark, ...]:
    """Return the marks to step through: the hits of a search, else the doubtful words."""
    return hits(page, query) if query.strip() else doubtful_marks(page)


def mark_text(passage: TextPassage, found: Iterable[TextMark], chosen: TextMark | None) -> str:
    """Return a passage's Markdown with invisible signs around its marks; `runs` finds them when
    drawn."""
    text = _SIGNS.sub(_WIDTHLESS, passage.text)
    parts: list[str] = []
    at = 0
    for mark in sorted(found, key=lambda mark: mark.start):
        span = passage.spans(mark.start, mark.end)
        if span is None or span[0] < at:
            continue
        start, end = span
        shown = text[start:end] if mark.correction is None else mark.correction
        parts += (text[at:start], _sign(mark, chosen), shown, _END)
        at = end
    return "".join([*parts, text[at:]])


def _sign(mark: TextMark, chosen: TextMark | None) -> str:
    if chosen is not None and (mark.start, mark.end) == (chosen.start, chosen.end):
        return _BEGIN["chosen"]
    return "" if mark.kind == "sure" else _BEGIN[mark.kind]


def runs(text: str, role: MarkRole | None = None) -> Iterator[tuple[str, MarkRole | None]]:
    """Yield runs of rendered text with equal roles, without the signs, beginning with `role`.

    The last run may be empty: its role is that of the text that follows.
    """
    at = 0
    for sign in _SIGNS.finditer(text):
        if sign.start() > at:
            yield text[at : sign.start()], role
        role, at = _ROLES.get(sign[0]), sign.end()
    yield text[at:], role


def unmark(text: str) -> str:
    """Return the text without the signs, even where they were percent-encoded in an address."""
    return _ENCODED.sub("", _SIGNS.sub("", text))
