"""The layout on disk: one JSON file for this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from carrel.store.core.sorting import Sort
from carrel.store.layout.state import LayoutState, TableLayout
from carrel.system.atomic import write_private

FORMAT = 1


def load_layout(path: Path) -> LayoutState:
    """Return the saved layout; the usual one where there is none that can be read."""
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
    """Write the layout.

    Raises:
        OSError: it cannot be written.
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
