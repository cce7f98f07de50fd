"""Panels with a table whose sort and widths are saved on this machine."""

from collections.abc import Callable

from carrel.notebook.panels.core.base import Json, intent
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.core.lists import Sort
from carrel.store.files.service import FilesService
from carrel.store.layout.state import LayoutState
from carrel.store.libraries.service import LibrariesService
from carrel.store.store import Store


class TableLayout:
    """A table's layout as a part of a panel, shared with the terminal's table of that name."""

    def __init__(self, store: Store, name: str) -> None:
        self._loop = store.loop
        self._layout = store.layout
        self._name = name

    @property
    def slice(self) -> Slice[LayoutState]:
        """The layout of all tables."""
        return self._layout.slice

    @property
    def sort(self) -> Sort | None:
        """The order of the table."""
        return self.slice.value.table(self._name).sort

    def view(self) -> Json:
        """Return the layout in the form that a view draws."""
        sort = self.sort
        return {
            "sort": sort and {"column": sort.column, "descending": sort.descending},
            "widths": dict(self.slice.value.table(self._name).widths),
        }

    def keep_sorted(self, service: FilesService | LibrariesService) -> Callable[[], None]:
        """Keep a service's list in the order of the table; return a function to end this."""

        def apply(_: LayoutState) -> None:
            if self.sort != service.slice.value.sort:
                service.sort(self.sort)

        return watch(self.slice, apply, deliver=self._loop.call)

    @intent
    async def _on_sort(self, column: str) -> None:
        """Cycle the sort by a column: ascending, descending, none."""
        self._layout.sort(self._name, column)

    @intent
    async def _on_widen(self, column: str, width: int) -> None:
        """Set a column's width in characters."""
        self._layout.widen(self._name, column, width)
