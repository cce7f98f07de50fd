"""Formatting of the open document: title, pages, marks, confidence, progress."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.core.diff import DiffLine, compare_lines
from carrel.store.core.formatting import count, counted, one_line, percent, time_left
from carrel.store.documents.blocks import blocks_of
from carrel.store.documents.boxes import FAIR, boxes, check_words, passages, sureness
from carrel.store.documents.corrections import (
    Corrections,
    ReadWord,
    apply_corrections,
    corrected_marks,
    key_of,
)
from carrel.store.documents.marks import TextMark, doubtful_marks, heat, hits, marks
from carrel.store.documents.order import DOUBTFUL, has_doubtful_cells, is_order_doubtful

if TYPE_CHECKING:
    from carrel.store.documents.reader import OCROptions
    from carrel.store.documents.state import DocumentState
    from carrel.wire.ocr import Page

UNREAD = "This page is not read."
UNCHOSEN = "This page was not chosen."

_HEADING = re.compile(r"^(?P<marks>#{1,6}) +(?P<title>.*\S)", re.MULTILINE)
_NONE: Corrections = {}


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page in the strip below the picture: `3`, `[7]`, `◐11`, `○12`.

    A page that the options leave out is `skipped`.
    """

    page: int
    text: str
    state: Literal["read", "reading", "waiting", "skipped"]
    current: bool


def empty_words(state: DocumentState) -> str:
    """Return the reason why the current page shows no text, or an empty string."""
    if state.page is not None:
        return "" if passages(state.page) else "No text was found on this page."
    if state.reading:
        return "Reading this page …"
    if state.loading:
        return "Loading …"
    return UNREAD if state.current in state.wanted or not state.pages else UNCHOSEN


def title(state: DocumentState) -> str:
    """Return `lease-2024.pdf · page 7 of 12`."""
    if state.source is None:
        return "Document"
    name = one_line(state.source.name)
    if state.page_count is None:
        return name
    return f"{name} · page {state.current + 1} of {count(state.page_count)}"


def page_marks(state: DocumentState, reach: int) -> tuple[PageMark, ...]:
    """Return the marks of the current page and of at most `reach` pages before and after it.

    During reading, the next unread page counts as being read.
    """
    made = []
    next_unread = state.next_unread if state.reading else None
    first, end = state.current - reach, state.current + reach + 1
    for number in range(max(0, first), min(end, len(state.pages))):
        kind: Literal["read", "reading", "waiting", "skipped"] = "skipped"
        if state.pages[number] is not None:
            kind = "read"
        elif number in state.wanted:
            kind = "reading" if number == next_unread else "waiting"
        mark = {"read": "", "reading": "◐", "waiting": "○", "skipped": ""}[kind]
        current = number == state.current
        label = f"[{mark}{number + 1}]" if current else f"{mark}{number + 1}"
        made.append(PageMark(number, label, kind, current))
    return tuple(made)


def score_words(page: Page | None, corrections: Corrections = _NONE) -> str:
    """Return `Check: order, 3 words · 98 % sure`, as far as it is known.

    Corrected words need no check. `no text found` for a page without text. Without scores from the
    service, only the order is judged.
    """
    if page is None:
        return ""
    scores = page.confidence_scores
    words = check_words(
        order=any(map(is_order_doubtful, blocks_of(page))),
        cells=any(map(has_doubtful_cells, blocks_of(page))),
        words=sum(key_of(mark) not in corrections for mark in doubtful_marks(page)),
    )
    words.append(sureness([page], None if scores is None else scores.average_page_confidence_score))
    return " · ".join(filter(None, words))


def readers_words(page: Page | None) -> str:
    """Return `read by qwen, OCR agrees on 92 %`, or the reason why the model did not read the
    page."""
    if page is None or (vision := page.vision) is None:
        return ""
    name = one_line(vision.model)
    if vision.error is not None:
        return f"not read by {name}: {one_line(vision.error)}"
    agreement = 1.0 if vision.agreement is None else vision.agreement
    return f"read by {name}, OCR agrees on {percent(agreement)}"


def corrected_words(state: DocumentState) -> str:
    """Return `2 corrected` for the current page, or an empty string."""
    number = 0 if state.page is None else len(corrected_marks(state.page, state.corrections))
    return f"{count(number)} corrected" if number else ""


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word in a list; `corrected` is empty if it is unchanged."""

    id: str
    word: str
    corrected: str
    page: str
    sure: str


def word_row(word: ReadWord) -> WordRow:
    """Return a word as a row."""
    mark = word.mark
    return WordRow(
        f"{mark.page}-{mark.start}",
        one_line(mark.text),
        one_line(word.corrected or ""),
        count(mark.page + 1),
        percent(mark.sure) if mark.sure is not None else "",
    )


def words_title(words: Sequence[ReadWord], page: int | None = None) -> str:
    """Return `Doubtful words · 2 of 12 corrected`, or `Words of page 3 · …` for all words of a
    page."""
    done = sum(word.corrected is not None for word in words)
    what = "Doubtful words" if page is None else f"Words of page {count(page + 1)}"
    return f"{what} · {count(done)} of {count(len(words))} corrected"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document: its level from 1, and its page from 0."""

    level: int
    title: str
    page: int


def headings(state: DocumentState) -> tuple[Heading, ...]:
    """Return the headings of the read pages."""
    return tuple(
        Heading(len(match["marks"]), one_line(match["title"].strip(" *_#")), page.index)
        for page in state.pages
        if page is not None
        for match in _HEADING.finditer(apply_corrections(page, state.corrections))
    )


def heading_at(found: Sequence[Heading], page: int) -> int:
    """Return the position of a page's first heading, else of the last one before it, or 0."""
    here = (at for at, one in enumerate(found) if one.page == page)
    return next(here, max((at for at, one in enumerate(found) if one.page < page), default=0))


def pages_words(first: int, end: int, total: int) -> str:
    """Return `Pages 13–24 of 352`."""
    return f"Pages {count(first + 1)}–{count(end)} of {count(total)}"


def heat_words(page: Page | None) -> str:
    """Return the number of words with heat: `heat: 3 words below 90 %, 1 below 70 %`."""
    scores = None if page is None else page.confidence_scores
    if page is None or scores is None or scores.word_confidence_scores is None:
        return "heat: no word of this page is scored"
    warm, hot = len(heat(page)), len(doubtful_marks(page))
    below = f"{percent(FAIR)}, {count(hot)} below {percent(DOUBTFUL)}"
    return f"heat: {counted(warm, 'word')} below {below}"


def chosen_block(state: DocumentState) -> str:
    """Return `text 2 of 9 · 1 doubtful · 97 % sure`; empty unless a block with a box is chosen."""
    if state.page is None:
        return ""
    return next((box.words for box in boxes(state.page) if box.block == state.block), "")


def page_hits(state: DocumentState, *, warm: bool = False) -> tuple[TextMark, ...]:
    """Return the corrected words of the page, the hits of the search, and its doubtful words.

    With `warm`, all words with heat stand in for the doubtful ones.
    """
    if state.page is None:
        return ()
    found = [*corrected_marks(state.page, state.corrections)]
    for more in (hits(state.page, state.query), (heat if warm else doubtful_marks)(state.page)):
        found += [mark for mark in more if not any(map(mark.overlaps, found))]
    return tuple(found)


def mark_words(state: DocumentState) -> str:
    """Return `“writlng” 61 % sure · 2 of 3 on this page`, or for a search `find: notice · 2 of 3
    …`."""
    found = [] if state.page is None else [*marks(state.page, state.query)]
    at = found.index(state.mark) + 1 if state.mark in found else 0
    where = f"{at} of {count(len(found))} on this page" if at else ""
    if state.query.strip():
        on_pages = sum(bool(page and hits(page, state.query)) for page in state.pages)
        pages = f"on {counted(on_pages, 'page')}"
        rest = where or (pages if on_pages else "not found")
        return f"find: {one_line(state.query)} · {rest}"
    if state.mark is None or state.mark.sure is None:
        return ""
    return f"“{one_line(state.mark.text)}” {percent(state.mark.sure)} sure · {where}"


def progress(state: DocumentState, now: float) -> str:
    """Return `Reading page 11 of 12 · about 2 s left`; empty when nothing is being read."""
    if not state.reading:
        return ""
    if state.page_count is None:
        return "Reading"
    total = len(state.wanted)
    words = f"Reading page {min(state.read + 1, total)} of {count(total)}"
    done = state.read - state.read_before
    if done <= 0 or state.started is None:
        return words
    seconds = (now - state.started) / done * (total - state.read)
    return f"{words} · about {time_left(seconds)}"


def changes(state: DocumentState) -> tuple[DiffLine, ...]:
    """Return the diff of the current page against its previous reading, else its built-in reading.

    Empty if equal.
    """
    page = state.page
    if page is None:
        return ()
    before = state.before[state.current] if state.current < len(state.before) else None
    old = None if before is None else before.markdown
    if old in (None, page.markdown) and page.vision is not None:
        old = page.vision.built_in_markdown
    return () if old in (None, page.markdown) else compare_lines(old or "", page.markdown)


def changed_words(state: DocumentState) -> str:
    """Return `read again: 2 of 7 pages changed`; empty unless the document was read again."""
    both = [
        (old, new)
        for old, new in zip(state.before, state.pages, strict=False)
        if old is not None and new is not None
    ]
    if not both:
        return ""
    differing = sum(old.markdown != new.markdown for old, new in both)
    number = count(differing) if differing else "none"
    return f"read again: {number} of {counted(len(both), 'page')} changed"


def option_words(options: OCROptions) -> str:
    """Return the options that differ from the defaults: `pages 1-3 · tables as HTML · headers
    apart`."""
    words = []
    if options.pages.strip():
        words.append(f"pages {one_line(options.pages)}")
    if options.tables != "text":
        words.append(f"tables as {'HTML' if options.tables == 'html' else 'Markdown'}")
    if options.headers:
        words.append("headers apart")
    if options.scores != "word":
        words.append("scores of pages" if options.scores == "page" else "no scores")
    if options.pictures:
        words.append("with pictures")
    if options.schema.strip():
        words.append("with a schema")
    if options.model:
        words.append(f"by {one_line(options.model)}")
    return " · ".join(words)


def annotation(state: DocumentState) -> str:
    """Return the document's annotation as indented JSON; empty without one."""
    if state.annotation is None:
        return ""
    try:
        return json.dumps(json.loads(state.annotation), ensure_ascii=False, indent=2)
    except ValueError:
        return state.annotation
