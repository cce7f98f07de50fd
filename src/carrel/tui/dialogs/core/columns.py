"""The columns of a table: sorting, hiding and widths."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from carrel.store.core.lists import Sort
from carrel.store.layout.service import LayoutService
from carrel.store.layout.state import LayoutState
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable


class Columns(Dialog[None]):
    """Every column of a table. The table behind follows each key."""

    DEFAULT_CSS = """
    Columns .dialog { width: 62; }
    Columns VirtualTable { border: none; height: auto; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "show_or_hide", "Mark as shown", id="columns.toggle"),
        Binding("right", "widen(1)", "Wider", id="columns.wider"),
        Binding("left", "widen(-1)", "Narrower", id="columns.narrower"),
        Binding("backspace", "reset", "Reset", id="columns.reset"),
    ]

    def __init__(
        self,
        layout: LayoutService,
        table: str,
        columns: Sequence[Column],
        widths: Callable[[], Mapping[str, int]],
    ) -> None:
        super().__init__("Columns")
        self._layout = layout
        self._table = table
        self._columns = {column.name: column for column in columns}
        self._widths = widths

    def compose_content(self) -> ComposeResult:
        table = VirtualTable(
            Column("Column"), Column("Sort", 4), Column("Width", 5, right=True), classes=""
        )
        table.styles.height = len(self._columns) + 1
        yield table
        yield hint("enter sorts · space hides · ← → width · backspace resets")

    def on_mount(self) -> None:
        self.follow(self._layout.slice, self._show)
        self.query_one(VirtualTable).focus()

    def _show(self, state: LayoutState) -> None:
        layout, widths = state.table(self._table), self._widths()
        rows = []
        for name, column in self._columns.items():
            hidden = name in layout.hidden
            title = labels.line(column.title, "$muted" if hidden else "")
            shown = (Content("  ") if hidden else Content.styled("✓ ", "$accent")) + title
            width = labels.muted(str(widths[name] or "–"))
            rows.append(Row(name, (shown, Content(_sort_arrow(column, layout.sort)), width)))
        self.query_one(VirtualTable).show(rows)

    def _column(self) -> Column:
        return self._columns[self.query_one(VirtualTable).key or next(iter(self._columns))]

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        event.stop()
        if self._columns[event.key].sorts:
            self._layout.sort(self._table, event.key)

    def action_show_or_hide(self) -> None:
        column = self._column()
        # The first column names the rows.
        if column is not next(iter(self._columns.values())):
            self._layout.toggle(self._table, column.name)

    def action_widen(self, cells: int) -> None:
        name = self._column().name
        if width := self._widths()[name]:
            self._layout.widen(self._table, name, width + cells)

    def action_reset(self) -> None:
        self._layout.reset(self._table)


def _sort_arrow(column: Column, sort: Sort | None) -> str:
    if not column.sorts:
        return "–"
    return sort.arrow if sort is not None and sort.column == column.name else ""
