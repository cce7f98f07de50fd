"""Changes the layout of tables and panes, and saves it on this machine."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.lists import next_sort
from carrel.store.layout.state import FORMAT, LayoutState, TableLayout, load_layout
from carrel.system.atomic import write_private

LEAST_WIDTH = 3
"""Least width of a column in cells."""


def save_layout(path: Path, state: LayoutState) -> None:
    """Write the layout to disk.

    Raises:
        OSError: the file cannot be written.
    """
    tables = {
        name: {
            "sort": [table.sort.column, table.sort.descending] if table.sort else None,
            "hidden": sorted(table.hidden),
            "widths": dict(table.widths),
        }
        for name, table in state.tables.items()
    }
    panes = {place: dict(widths) for place, widths in state.panes.items()}
    data = {
        "format": FORMAT, "tables": tables, "panes": panes, "zoomed": sorted(state.zoomed),
        "place": state.place, "library": state.library,
    }  # fmt: skip
    write_private(path, json.dumps(data))


class LayoutService(Service[LayoutState]):
    """The layout of this machine, the same for every profile."""

    def __init__(self, loop: OwnerLoop, state: Path) -> None:
        self._path = state / "layout.json"
        super().__init__(loop, load_layout(self._path))

    @instant
    def sort(self, table: str, column: str) -> None:
        """Cycle a table's sort by a column: ascending, descending, none."""
        layout = self.slice.value.table(table)
        self._put(table, replace(layout, sort=next_sort(layout.sort, column)))

    @instant
    def toggle(self, table: str, column: str) -> None:
        """Toggle the visibility of a column."""
        layout = self.slice.value.table(table)
        self._put(table, replace(layout, hidden=layout.hidden ^ {column}))

    @instant
    def widen(self, table: str, column: str, width: int) -> None:
        """Set a column's width in cells."""
        layout = self.slice.value.table(table)
        widths = {**layout.widths, column: max(width, LEAST_WIDTH)}
        self._put(table, replace(layout, widths=widths))

    @instant
    def reset(self, table: str) -> None:
        """Reset a table to its default layout."""
        self._put(table, TableLayout())

    @instant
    def resize(self, place: str, widths: Mapping[int, float]) -> None:
        """Set the widths of a screen's panes in percent, from left to right by index."""
        self.slice.set(panes={**self.slice.value.panes, place: dict(widths)})
        self._save()

    @instant
    def zoom(self, place: str) -> None:
        """Toggle a screen between one full-size pane and all panes side by side."""
        self.slice.set(zoomed=self.slice.value.zoomed ^ {place})
        self._save()

    @instant
    def note(self, place: str, library: str) -> None:
        """Remember the open screen and library, to begin there the next time."""
        if (place, library) != (self.slice.value.place, self.slice.value.library):
            self.slice.set(place=place, library=library)
            self._save()

    def _put(self, table: str, layout: TableLayout) -> None:
        self.slice.set(tables={**self.slice.value.tables, table: layout})
        self._save()

    @action(Policy.RENEW)
    async def _save(self) -> None:
        await asyncio.to_thread(save_layout, self._path, self.slice.value)
