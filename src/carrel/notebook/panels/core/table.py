"""Panels with a table: its columns are sorted and widened, and stay so on this machine."""

from typing import Any, ClassVar, Protocol

from carrel.notebook.panels.core.base import Json, Panel, intent
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.core.sorting import Sort
from carrel.store.layout.state import LayoutState


class Sorted(Protocol):
    """A service whose list has an order."""

    @property
    def slice(self) -> Slice[Any]:
        """Its state, with the `sort`."""

    def sort(self, sort: Sort | None) -> object:
        """Sort the list."""


class TablePanel(Panel):
    """A panel with a table of the layout, which the terminal's table of that name shares."""

    _table_name: ClassVar[str]

    def _state(self) -> Json:
        layout = self._store.layout.slice.value.table(self._table_name)
        sort = layout.sort
        shown = {
            "sort": sort and {"column": sort.column, "descending": sort.descending},
            "widths": dict(layout.widths),
        }
        return {**super()._state(), "layout": shown}

    def _follow(self, *slices: Slice[Any]) -> None:
        super()._follow(self._store.layout.slice, *slices)

    def _sorts(self, service: Sorted) -> None:
        """Keep a service's list in the order of the layout."""

        def apply(layout: LayoutState) -> None:
            sort = layout.table(self._table_name).sort
            if sort != service.slice.value.sort:
                service.sort(sort)

        slice = self._store.layout.slice
        self._watches.append(watch(slice, apply, deliver=self._store.loop.call))

    @intent
    async def _on_sort(self, column: str) -> None:
        """Sort by a column: ascending, then descending, then not at all."""
        self._store.layout.sort(self._table_name, column)

    @intent
    async def _on_widen(self, column: str, width: int) -> None:
        """Give a column a width in characters."""
        self._store.layout.widen(self._table_name, column, width)
