"""Lists: sorting by a column, name filters, marked items, and a cache of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

KEPT = 40
"""Number of cached pages; the one loaded longest ago is evicted first."""

TYPING_PAUSE = 0.4
"""Seconds after the last key until a service is asked for what was typed, in both faces."""

Seen: TypeAlias = Mapping[int, tuple[T, ...]]
"""Cached pages by number, from 0; the newest last."""


@dataclass(frozen=True, slots=True)
class Sort:
    """A column's name and a direction."""

    column: str
    descending: bool = False

    @property
    def arrow(self) -> str:
        """`↑` or `↓`."""
        return "↓" if self.descending else "↑"


def next_sort(sort: Sort | None, column: str) -> Sort | None:
    """Return the sort after a click on a column: ascending, descending, then none."""
    if sort is None or sort.column != column:
        return Sort(column)
    return None if sort.descending else Sort(column, descending=True)


def sort_by(items: Iterable[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """Sort the items by a key. Items whose key is None come last in both directions."""
    keyed = [(key(item), item) for item in items]
    known = sorted(
        ((value, item) for value, item in keyed if value is not None),
        key=lambda pair: pair[0],
        reverse=descending,
    )
    return [item for _, item in known] + [item for value, item in keyed if value is None]


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Words required in a name, and words excluded from it, in lower case."""

    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> NameFilter:
        """Parse a filter: `lease !draft` requires “lease” and forbids “draft”; a lone `!` is
        ignored."""
        parts = text.lower().split()
        without = tuple(part[1:] for part in parts if part.startswith("!") and part != "!")
        return cls(tuple(part for part in parts if not part.startswith("!")), without)

    def __bool__(self) -> bool:
        return bool(self.words or self.without)

    def matches(self, text: str) -> bool:
        """Return whether a text passes the filter."""
        lower = text.lower()
        return all(word in lower for word in self.words) and not any(
            word in lower for word in self.without
        )


def toggle(marked: Mapping[str, T], id: str, thing: T | None) -> Mapping[str, T]:
    """Toggle the mark of an item. An unknown item (None) gets no mark."""
    if id in marked:
        return unmark(marked, id)
    return marked if thing is None else {**marked, id: thing}


def unmark(marked: Mapping[str, T], id: str) -> Mapping[str, T]:
    """Remove the mark of an item."""
    return {other: thing for other, thing in marked.items() if other != id}


def invert(marked: Mapping[str, T], things: Mapping[str, T]) -> Mapping[str, T]:
    """Toggle the marks of all `things`; other marks stay."""
    elsewhere = {id: thing for id, thing in marked.items() if id not in things}
    return {**elsewhere, **{id: thing for id, thing in things.items() if id not in marked}}


def with_range(
    marked: Mapping[str, T], ids: Iterable[str], find: Callable[[str], T | None]
) -> Mapping[str, T]:
    """Mark the items of a range of ids. Unknown items get no mark."""
    found = {id: find(id) for id in ids}
    return {**marked, **{id: thing for id, thing in found.items() if thing is not None}}


def with_page(seen: Seen[T], page: int, items: tuple[T, ...]) -> Seen[T]:
    """Return the cache with a page added or replaced."""
    pages = {number: each for number, each in seen.items() if number != page}
    return dict([*pages.items(), (page, items)][-KEPT:])


def first_missing(seen: Seen[T], last_page: int) -> int | None:
    """Return the first missing page that the cache has room for, or None."""
    return next((page for page in range(min(last_page + 1, KEPT)) if page not in seen), None)


def seen_items(seen: Seen[T]) -> tuple[T, ...]:
    """Return the items of the cached pages in the list's order."""
    return tuple(item for page in sorted(seen) for item in seen[page])


def find_at(index: int, page_size: int, page: int, items: tuple[T, ...], seen: Seen[T]) -> T | None:
    """Return the item at an index of the whole list, or None if it is not cached.

    `items` are the items of `page`.
    """
    number, row = divmod(index, page_size)
    found = items if number == page else seen.get(number, ())
    return found[row] if row < len(found) else None


def last_page(total: int | None, page_size: int) -> int:
    """Return the number of the last page, or 0 while the total is unknown."""
    return max(0, -(-(total or 0) // page_size) - 1)
