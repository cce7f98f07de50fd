"""Formatting of libraries, their documents and search hits as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.store.core.formatting import (
    Badge,
    age,
    count,
    counted,
    one_line,
    range_words,
    size,
    type_words,
)
from carrel.store.core.lists import Sort, sort_by
from carrel.store.libraries.phase import UNFINISHED, document_phase

if TYPE_CHECKING:
    from carrel.store.libraries.state import LibrariesState
    from carrel.wire.documents import Document
    from carrel.wire.libraries import Library
_LINE_SIGNS = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d+[.)]\s+|>\s*|\|[-:| ]+\|$)", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|`+)(\S(?:.*?\S)?)\1")
_BADGES = {
    "queued": Badge("○", "Queued", "waiting"),
    "processing": Badge("◐", "Processing", "busy"),
    "ready": Badge("●", "Ready", "ready"),
    "failed": Badge("✕", "Failed", "failed"),
}


@dataclass(frozen=True, slots=True)
class LibraryRow:
    id: str
    name: str
    documents: str
    selected: bool
    busy: bool


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document. `summary` is its content in brief, or the reason why it is not ready."""

    id: str
    name: str
    status: Badge
    pages: str
    added: str
    summary: str
    marked: bool
    selected: bool


@dataclass(frozen=True, slots=True)
class HitRow:
    """One passage found; matched words are enclosed in « and »."""

    number: int
    document_id: str
    name: str
    page: str
    passage: str


def document_status(document: Document) -> Badge:
    """Return `○ Queued, 3rd`, `◐ Processing`, `● Ready`, `✕ Failed`."""
    phase = document_phase(document)
    if phase == "queued" and document.queue_position:
        return Badge("○", f"Queued, {_ordinal(document.queue_position)}", "waiting")
    return _BADGES[phase]


def library_rows(state: LibrariesState) -> tuple[LibraryRow, ...]:
    """Return the rows of the libraries.

    The selected one is busy while a document on screen is unprocessed.
    """
    busy = any(document_phase(document) in UNFINISHED for document in state.documents)
    return tuple(
        LibraryRow(
            library.id,
            one_line(library.name),
            count(library.nb_documents),
            library.id == state.selected,
            busy and library.id == state.selected,
        )
        for library in state.items
    )


def document_rows(state: LibrariesState, now: float) -> tuple[DocumentRow, ...]:
    """Return the rows of the loaded page of documents."""
    return tuple(document_row(document, state, now) for document in state.documents)


def document_row(document: Document, state: LibrariesState, now: float) -> DocumentRow:
    """Return the row of a document."""
    return DocumentRow(
        document.id,
        one_line(document.name),
        document_status(document),
        "–" if document.number_of_pages is None else count(document.number_of_pages),
        age(now - document.created_at.timestamp()),
        _describe(document),
        document.id in state.marked,
        document.id == state.document,
    )


def library_facts(library: Library, now: float) -> tuple[tuple[str, str], ...]:
    """Return the details of a library as pairs of name and value."""
    facts = [
        ("Documents", count(library.nb_documents)),
        ("Size", size(library.total_size)),
        ("Made", age(now - library.created_at.timestamp())),
        ("Changed", age(now - library.updated_at.timestamp())),
    ]
    if library.chunk_size is not None:
        facts.append(("Passages", f"of {count(library.chunk_size)} characters"))
    return tuple(facts)


def document_facts(document: Document, now: float) -> tuple[tuple[str, str], ...]:
    """Return the details of a document as pairs of name and value."""
    facts = [
        ("Service says", str(document.process_status or document.processing_status)),
        ("Pages", "–" if document.number_of_pages is None else count(document.number_of_pages)),
        ("Size", size(document.size)),
        ("Type", type_words(document.mime_type, document.name)),
        ("Added", age(now - document.created_at.timestamp())),
        ("Tokens", count(document.tokens_processing_total)),
    ]
    if document.expires_at is not None:
        facts.append(("Expires", f"{document.expires_at.astimezone():%Y-%m-%d}"))
    attributes = (document.attributes or {}).items()
    return (*facts, *((one_line(name), one_line(_value(value))) for name, value in attributes))


HIT_ORDERS: Mapping[str, Callable[[HitRow], Any]] = {
    "hit": lambda row: row.number,
    "name": lambda row: row.name.casefold(),
    "page": lambda row: int(row.page) if row.page else None,
}
"""Sort keys of a hit by column name; None sorts last."""


def hit_rows(state: LibrariesState, sort: Sort | None = None) -> tuple[HitRow, ...]:
    """Return the search hits, best first, or in the order of a column of HIT_ORDERS."""
    # Imported late, to keep the store's start fast.
    from carrel.wire.libraries import mark_matches

    rows = [
        HitRow(
            number,
            hit.document_id,
            one_line(hit.document_name),
            "" if hit.page is None else str(hit.page + 1),
            one_line(mark_matches(hit.snippet, hit.matches)),
        )
        for number, hit in enumerate(state.hits, 1)
    ]
    if sort is not None:
        rows = sort_by(rows, HIT_ORDERS[sort.column], descending=sort.descending)
    return tuple(rows)


def title(state: LibrariesState) -> str:
    """Return `contracts · 412 documents · 2 marked · 9 or more not ready`; the 9 are counted among
    the documents that are loaded."""
    name = next((item.name for item in state.items if item.id == state.selected), None)
    if name is None:
        return "Libraries"
    parts = [one_line(name)]
    if state.total is not None:
        parts.append(counted(state.total, "document"))
    if state.marked:
        parts.append(f"{count(len(state.marked))} marked")
    waiting = sum(document_phase(document) != "ready" for document in state.documents)
    if waiting:
        least = " or more" if len(state.documents) < (state.total or 0) else ""
        parts.append(f"{count(waiting)}{least} not ready")
    return " · ".join(parts)


def page_range(state: LibrariesState) -> str:
    """Return `1–20 of 412`."""
    return range_words(state.page, state.page_size, state.total, len(state.documents))


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _describe(document: Document) -> str:
    phase = document_phase(document)
    if phase == "failed":
        return one_line(document.error or "")
    return plain(document.summary or "")


def plain(markdown: str) -> str:
    """Return the text of Markdown in one line, without its syntax."""
    text = _LINK.sub(r"\1", _LINE_SIGNS.sub(" ", markdown))
    return one_line(_EMPHASIS.sub(r"\2", text))


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
