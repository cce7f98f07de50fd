"""Changes the layout of tables and panes, and saves it on this machine."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.lists import Sort, next_sort
from carrel.store.layout.state import LayoutState, TableLayout
from carrel.system.atomic import write_private

FORMAT = 1

LEAST_WIDTH = 3
"""Least width of a column in cells."""


def load_layout(path: Path) -> LayoutState:
    """Load the saved layout, or the default if it is missing or unreadable."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return LayoutState()
        return LayoutState(
            {name: _table(each) for name, each in data["tables"].items()},
            {
                place: {int(number): float(width) for number, width in widths.items()}
                for place, widths in data["panes"].items()
            },
            frozenset(map(str, data["zoomed"])),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return LayoutState()


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
    data = {"format": FORMAT, "tables": tables, "panes": panes, "zoomed": sorted(state.zoomed)}
    write_private(path, json.dumps(data))


def _table(data: Any) -> TableLayout:
    sort = Sort(str(data["sort"][0]), bool(data["sort"][1])) if data["sort"] else None
    widths = {str(name): max(1, int(width)) for name, width in data["widths"].items()}
    return TableLayout(sort, frozenset(map(str, data["hidden"])), widths)


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

    def _put(self, table: str, layout: TableLayout) -> None:
        self.slice.set(tables={**self.slice.value.tables, table: layout})
        self._save()

    @action(Policy.RENEW)
    async def _save(self) -> None:
        await asyncio.to_thread(save_layout, self._path, self.slice.value)
