"""A page cache for long lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

T = TypeVar("T")

KEPT = 40
"""Number of cached pages; the one loaded longest ago is evicted first."""

Seen: TypeAlias = Mapping[int, tuple[T, ...]]
"""Cached pages by number, from 0; the newest last."""


def with_page(seen: Seen[T], page: int, items: tuple[T, ...]) -> Seen[T]:
    """Return the cache with a page added or replaced."""
    pages = {number: each for number, each in seen.items() if number != page}
    return dict([*pages.items(), (page, items)][-KEPT:])


def first_missing(seen: Seen[T], last_page: int) -> int | None:
    """Return the first missing page among those that the cache can hold, or None."""
    return next((page for page in range(min(last_page + 1, KEPT)) if page not in seen), None)


def all_seen(seen: Seen[T]) -> tuple[T, ...]:
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
