"""The state of the layout, and the saved one: it is read before anything is painted."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from carrel.store.core.lists import Sort
from carrel.store.core.problem import Problem

FORMAT = 1


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of one table: columns by name, widths in cells."""

    sort: Sort | None = None
    hidden: frozenset[str] = frozenset()
    widths: Mapping[str, int] = field(default_factory=dict)


USUAL = TableLayout()


@dataclass(frozen=True, slots=True)
class LayoutState:
    """The layout of tables and of screens' panes, by name.

    `panes` maps pane indexes from the left to widths in percent, where set; a screen in `zoomed`
    shows one full-size pane at a time. `place` is the screen that was open last, `library` the
    library, or empty.
    """

    tables: Mapping[str, TableLayout] = field(default_factory=dict)
    panes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    zoomed: frozenset[str] = frozenset()
    place: str = "files"
    library: str = ""
    error: Problem | None = None

    def table(self, name: str) -> TableLayout:
        """Return the layout of a table."""
        return self.tables.get(name, USUAL)


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
            str(data.get("place", "files")),
            str(data.get("library", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return LayoutState()


def _table(data: Any) -> TableLayout:
    sort = Sort(str(data["sort"][0]), bool(data["sort"][1])) if data["sort"] else None
    widths = {str(name): max(1, int(width)) for name, width in data["widths"].items()}
    return TableLayout(sort, frozenset(map(str, data["hidden"])), widths)
