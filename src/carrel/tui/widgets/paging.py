"""Rows that arrive a page at a time."""

from collections.abc import Sequence
from typing import overload

from carrel.tui.widgets.table import Row


class PagedRows(Sequence[Row | None]):
    """As many rows as there are in all; None for those whose page has not arrived.

    `first` holds rows that stand before them.
    """

    def __init__(self) -> None:
        self.first: list[Row] = []
        self.total = 0
        self._known: dict[int, Row] = {}

    def put(self, start: int, rows: Sequence[Row]) -> None:
        """A page has arrived: its rows from index `start`."""
        self._known.update(enumerate(rows, start))

    def clear(self) -> None:
        """Forgets every page."""
        self._known.clear()

    def __len__(self) -> int:
        return len(self.first) + self.total

    @overload
    def __getitem__(self, index: int) -> Row | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row | None]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row | None] | None:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        if index < len(self.first):
            return self.first[index]
        return self._known.get(index - len(self.first))
