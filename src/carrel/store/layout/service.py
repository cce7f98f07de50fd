"""Lays out tables and panes, and saves that on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.sorting import next_sort
from carrel.store.layout.saved import load_layout, save_layout
from carrel.store.layout.state import LayoutState, TableLayout

LEAST_WIDTH = 3
"""Cells of the narrowest column."""


class LayoutService(Service[LayoutState]):
    """The layout of this machine, the same for every profile."""

    def __init__(self, loop: OwnerLoop, state: Path) -> None:
        self._path = state / "layout.json"
        super().__init__(loop, load_layout(self._path))

    @instant
    def sort(self, table: str, column: str) -> None:
        """Sort a table by a column: ascending, then descending, then not at all."""
        layout = self.slice.value.table(table)
        self._put(table, replace(layout, sort=next_sort(layout.sort, column)))

    @instant
    def toggle(self, table: str, column: str) -> None:
        """Hide a column, or show it again."""
        layout = self.slice.value.table(table)
        self._put(table, replace(layout, hidden=layout.hidden ^ {column}))

    @instant
    def widen(self, table: str, column: str, width: int) -> None:
        """Give a column a width in cells."""
        layout = self.slice.value.table(table)
        widths = {**layout.widths, column: max(width, LEAST_WIDTH)}
        self._put(table, replace(layout, widths=widths))

    @instant
    def reset(self, table: str) -> None:
        """Lay a table out as it is at first."""
        self._put(table, TableLayout())

    @instant
    def resize(self, place: str, widths: Mapping[int, float]) -> None:
        """Give the panes of a place widths in percent, by their place from the left."""
        self.slice.set(panes={**self.slice.value.panes, place: dict(widths)})
        self._save()

    @instant
    def zoom(self, place: str) -> None:
        """Let one pane of a place fill the window, or put all of them beside each other again."""
        self.slice.set(zoomed=self.slice.value.zoomed ^ {place})
        self._save()

    def _put(self, table: str, layout: TableLayout) -> None:
        self.slice.set(tables={**self.slice.value.tables, table: layout})
        self._save()

    @action(Policy.RENEW)
    async def _save(self) -> None:
        await asyncio.to_thread(save_layout, self._path, self.slice.value)
