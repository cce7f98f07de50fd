"""The state of the layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.store.core.problem import Problem
from carrel.store.core.sorting import Sort


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of one table; columns by their names, widths in cells."""

    sort: Sort | None = None
    hidden: frozenset[str] = frozenset()
    widths: Mapping[str, int] = field(default_factory=dict)


USUAL = TableLayout()


@dataclass(frozen=True, slots=True)
class LayoutState:
    """The layout of tables by their names."""

    tables: Mapping[str, TableLayout] = field(default_factory=dict)
    error: Problem | None = None

    def table(self, name: str) -> TableLayout:
        """The layout of a table."""
        return self.tables.get(name, USUAL)
