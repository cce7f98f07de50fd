"""The state of the layout."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.store.core.lists import Sort
from carrel.store.core.problem import Problem


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
    shows one full-size pane at a time.
    """

    tables: Mapping[str, TableLayout] = field(default_factory=dict)
    panes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    zoomed: frozenset[str] = frozenset()
    error: Problem | None = None

    def table(self, name: str) -> TableLayout:
        """Return the layout of a table."""
        return self.tables.get(name, USUAL)
