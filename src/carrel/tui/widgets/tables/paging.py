"""Rows of a long list, made when they come into view."""

from collections.abc import Callable, Sequence
from typing import overload

from carrel.tui.widgets.tables.table import Row


class PagedRows(Sequence[Row | None]):
    """A sequence with a row for each item of the list; None for items of missing pages."""

    def __init__(
        self, make: Callable[[int], Row | None], total: int, first: Sequence[Row] = ()
    ) -> None:
        """Take the rows' factory: `make` returns the row at an index; the rows of `first` come
        before all."""
        self._make = make
        self._total = total
        self._first = first
        self._made: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self._first) + self._total

    @overload
    def __getitem__(self, index: int) -> Row | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row | None]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row | None] | None:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        if index < len(self._first):
            return self._first[index]
        if index not in self._made:
            row = self._make(index - len(self._first))
            if row is None:
                return None
            self._made[index] = row
        return self._made[index]
