"""Formatting of files as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from carrel.config.profiles import on_this_machine
from carrel.store.core.formatting import Badge, age, count, one_line, range_words, size
from carrel.store.core.lists import NameFilter, seen_items, sort_by

if TYPE_CHECKING:
    from carrel.store.activity.state import ActivityItem, ActivityState
    from carrel.store.cache.readings import PagesRead
    from carrel.store.files.state import FilesState
    from carrel.wire.files import File

    SortKey = Callable[[File, ActivityItem | None, PagesRead | None], Any]


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file. `ocr` is its reading progress, or None if it was not read on this machine."""

    id: str
    name: str
    purpose: str
    size: str
    pages: str
    ocr: Badge | None
    created: str
    marked: bool
    selected: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """One filter of the list: the action's argument, its label, its values and the current one."""

    field: str
    name: str
    values: tuple[str, ...]
    chosen: str | None


def file_rows(state: FilesState, activity: ActivityState, now: float) -> tuple[FileRow, ...]:
    """Return the rows of a page of files in the chosen order, after the search and filters."""
    runs, wanted = ocr_runs(activity), negative_filter(state)
    ordered, first = sort_files(state, runs), state.page * state.page_size
    files = state.items if ordered is None else ordered[first : first + state.page_size]
    return tuple(
        file_row(file, state, runs, now)
        for file in files
        if wanted.matches(f"{file.filename} {file.purpose}")
    )


def file_row(
    file: File, state: FilesState, runs: Mapping[str | None, ActivityItem], now: float
) -> FileRow:
    """Return the row of a file; `runs` maps file ids to their last OCR runs."""
    run, reading = runs.get(file.id), state.readings.get(file.id)
    return FileRow(
        file.id,
        one_line(file.filename),
        file.purpose,
        size(file.bytes),
        _pages(file, run, reading),
        _ocr(run, reading),
        age(now - file.created_at),
        file.id in state.marked,
        file.id == state.selected,
    )


def ocr_runs(activity: ActivityState) -> Mapping[str | None, ActivityItem]:
    """Return the last OCR run of each file, by file id."""
    return {item.subject: item for item in reversed(activity.items) if item.kind == "ocr"}


def negative_filter(state: FilesState) -> NameFilter:
    """Return the filter of words after a `!`, which the service does not support."""
    return NameFilter(without=NameFilter.parse(state.search).without)


def filter_words(state: FilesState) -> str:
    """Return the active filters: `lease !draft · ocr · PDF`; empty without any."""
    parts = (state.search, state.purpose, state.source and f"from {state.source}", state.type)
    return " · ".join(one_line(part) for part in parts if part)


def facets(state: FilesState) -> tuple[Facet, ...]:
    """Return the available filters and their current values."""
    from carrel.store.files.state import TYPES
    from carrel.wire.files import PURPOSES, SOURCES

    return (
        Facet("purpose", "Purpose", PURPOSES, state.purpose),
        Facet("source", "Source", SOURCES, state.source),
        Facet("type", "Type", tuple(TYPES), state.type),
    )


def sort_files(state: FilesState, runs: Mapping[str | None, ActivityItem]) -> Sequence[File] | None:
    """Return the loaded files in the chosen order, or None for the service's own order."""
    sort = state.sort
    if sort is None:
        return None
    key = FILE_ORDERS[sort.column]

    def of(file: File) -> object:
        return key(file, runs.get(file.id), state.readings.get(file.id))

    return sort_by(seen_items(state.seen), of, descending=sort.descending)


def sort_words(state: FilesState) -> str:
    """Return the sorted part of the files, unless all are: `sorted: 2,000 of 10,000`."""
    here = sum(map(len, state.seen.values()))
    if state.sort is None or state.total is None or here >= state.total:
        return ""
    return f"sorted: {count(here)} of {count(state.total)}"


def nothing_words(state: FilesState) -> str:
    """Return the message for an empty filtered list."""
    if state.search and not (state.purpose or state.source or state.type):
        return f"No name contains “{state.search}”."
    return f"No file matches “{filter_words(state)}”."


def title(state: FilesState) -> str:
    """Return `Files · 1,204 · 2 marked`."""
    parts = ["Files"]
    if state.total is not None:
        parts.append(count(state.total))
    if state.marked:
        parts.append(f"{count(len(state.marked))} marked")
    return " · ".join(parts)


def page_range(state: FilesState) -> str:
    """Return `41–60 of 1,204`."""
    return range_words(state.page, state.page_size, state.total, len(state.items))


def link_words(url: str, hours: float, now: float) -> str:
    """Return who can open a signed address, and until when by this machine's clock."""
    until = datetime.fromtimestamp(now + 3600 * hours).strftime("%a %d %b, %H:%M")
    if on_this_machine(url):
        return f"The link works until {until}, on this machine alone, while its server runs."
    return f"The link works until {until}, for anyone who has it."


def _pages(file: File, run: ActivityItem | None, reading: PagesRead | None) -> str:
    if file.num_lines is not None:
        return f"{count(file.num_lines)} lines"
    total = _page_count(run, reading)
    return count(total) if total else ""


def _ocr(item: ActivityItem | None, reading: PagesRead | None) -> Badge | None:
    if item is None and reading is None:
        return None
    if item is None or (item.status == "cancelled" and reading is not None):
        assert reading is not None
        if reading.read < reading.total:
            return Badge("○", f"{count(reading.read)} of {count(reading.total)}", "waiting")
        return Badge("●", "done", "ready")
    match item.status:
        case "queued":
            return Badge("○", "queued", "waiting")
        case "running":
            return Badge("◐", f"page {(item.done or 0) + 1}", "busy")
        case "done":
            return Badge("●", "done", "ready")
        case "failed":
            return Badge("✕", "failed", "failed")
        case "interrupted":
            return Badge("○", "interrupted", "waiting")
        case "cancelled":
            return Badge("○", "stopped", "muted")


def _progress_of(item: ActivityItem | None, reading: PagesRead | None) -> str | None:
    badge = _ocr(item, reading)
    return None if badge is None else badge.text


def _page_count(item: ActivityItem | None, reading: PagesRead | None) -> int | None:
    return (item.total if item else None) or (reading.total if reading else None)


FILE_ORDERS: Mapping[str, SortKey] = {
    "name": lambda file, run, reading: file.filename.casefold(),
    "purpose": lambda file, run, reading: file.purpose,
    "size": lambda file, run, reading: file.bytes,
    "pages": lambda file, run, reading: file.num_lines or _page_count(run, reading),
    "ocr": lambda file, run, reading: _progress_of(run, reading),
    "created": lambda file, run, reading: file.created_at,
}
"""Sort keys of a file by column name; None sorts last."""
