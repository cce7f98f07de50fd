"""Sorting of a list by the user's choice of column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


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


def in_order(items: Iterable[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """Sort the items by a key. Items whose key is None come last in both directions."""
    keyed = [(key(item), item) for item in items]
    known = sorted(
        ((value, item) for value, item in keyed if value is not None),
        key=lambda pair: pair[0],
        reverse=descending,
    )
    return [item for _, item in known] + [item for value, item in keyed if value is None]
