"""Pages of a long list, cached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

T = TypeVar("T")

KEPT = 40
"""Cached pages; the one loaded longest ago is evicted first."""

Seen: TypeAlias = Mapping[int, tuple[T, ...]]
"""Pages by their number, which counts from 0; the newest last."""


def with_page(seen: Seen[T], page: int, items: tuple[T, ...]) -> Seen[T]:
    """Return the pages with one more, or a newer one."""
    pages = {number: each for number, each in seen.items() if number != page}
    return dict([*pages.items(), (page, items)][-KEPT:])


def first_missing(seen: Seen[T], last_page: int) -> int | None:
    """Return the first page that is not cached, among those that can be cached together."""
    return next((page for page in range(min(last_page + 1, KEPT)) if page not in seen), None)


def all_seen(seen: Seen[T]) -> tuple[T, ...]:
    """Return the entries of the cached pages, in the list's order."""
    return tuple(item for page in sorted(seen) for item in seen[page])


def find_at(index: int, page_size: int, page: int, items: tuple[T, ...], seen: Seen[T]) -> T | None:
    """Return the entry at a place of the whole list, if it was seen.

    `items` are those of `page`.
    """
    number, row = divmod(index, page_size)
    found = items if number == page else seen.get(number, ())
    return found[row] if row < len(found) else None


def last_page(total: int | None, page_size: int) -> int:
    """Return the number of the last page; 0 while that is not known."""
    return max(0, -(-(total or 0) // page_size) - 1)
