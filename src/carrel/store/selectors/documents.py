"""The open document: its title, its pages, how sure the reader was, how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.selectors.words import count, left, one_line

if TYPE_CHECKING:
    from carrel.store.documents import DocumentState
    from carrel.wire.ocr import Page

DOUBTFUL = 0.7
"""A word the reader is less sure of counts as doubtful."""


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page in the strip below the picture: `3`, `[7]`, `◐11`, `○12`."""

    page: int
    text: str
    state: Literal["read", "reading", "waiting"]
    current: bool


def title(state: DocumentState) -> str:
    """`lease-2024.pdf · page 7 of 12`."""
    if state.source is None:
        return "Document"
    name = one_line(state.source.name)
    if state.page_count is None:
        return name
    return f"{name} · page {state.current + 1} of {count(state.page_count)}"


def page_marks(state: DocumentState) -> tuple[PageMark, ...]:
    """Every page; while pages are read, the next unread one is the one being read."""
    marks = []
    reading = state.reading
    for number, page in enumerate(state.pages):
        if page is not None:
            kind: Literal["read", "reading", "waiting"] = "read"
        else:
            kind, reading = ("reading", False) if reading else ("waiting", reading)
        mark = {"read": "", "reading": "◐", "waiting": "○"}[kind]
        current = number == state.current
        label = f"[{mark}{number + 1}]" if current else f"{mark}{number + 1}"
        marks.append(PageMark(number, label, kind, current))
    return tuple(marks)


def confidence(page: Page | None) -> str:
    """`98 % sure, 3 doubtful`; empty where the service gives no scores."""
    if page is None or page.confidence_scores is None:
        return ""
    scores = page.confidence_scores
    words = f"{scores.average_page_confidence_score:.0%} sure".replace("%", " %")
    doubtful = sum(word.confidence < DOUBTFUL for word in scores.word_confidence_scores or ())
    return f"{words}, {count(doubtful)} doubtful" if doubtful else words


def progress(state: DocumentState, now: float) -> str:
    """`Reading page 11 of 12 · about 2 s left`; empty when nothing is read."""
    if not state.reading:
        return ""
    if state.page_count is None:
        return "Reading"
    words = f"Reading page {min(state.read + 1, state.page_count)} of {count(state.page_count)}"
    done = state.read - state.read_before
    if done <= 0 or state.started is None:
        return words
    seconds = (now - state.started) / done * (state.page_count - state.read)
    return f"{words} · about {left(seconds)}"
