"""The trash: deleted items, also of earlier runs, and their restoring."""

import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one

from carrel.store.core.actions.handle import Handle
from carrel.store.trash.formatting import DeletedRow, deleted_rows, trash_title
from carrel.store.trash.service import TrashService
from carrel.store.trash.state import TrashState
from carrel.tui.dialogs.core.dialog import FILTER_KEY, Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.theme.empty import explain_empty
from carrel.tui.widgets.inputs.filter import ListFilter
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable

NOTHING = (labels.muted("Nothing is in the trash."),)
HINT = "enter restores · space marks · / filters · esc closes"


class Trash(Dialog[None]):
    """A list of deleted items, last deleted first."""

    DEFAULT_CSS = """
    Trash .dialog { width: 96; height: 80%; padding: 0 1; }
    Trash VirtualTable { border: none; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        FILTER_KEY,
        Binding("space", "mark", "Mark", id="trash.mark"),
    ]
    table = query_one(VirtualTable)
    """The table of deleted items."""

    def __init__(self, trash: TrashService, do: Callable[[Handle[int]], None]) -> None:
        super().__init__("Deleted")
        self._trash = trash
        self._do = do

    def compose_content(self) -> ComposeResult:
        yield VirtualTable(
            Column("Kind", 8),
            Column("Name", least=18, paths=True),
            Column("Deleted", 11, right=True, rank=1),
            Column("Kept", 10, right=True),
            classes="",
        )
        yield ListFilter()
        yield hint(HINT)

    def on_mount(self) -> None:
        self.follow(self._trash.slice, self._show)
        self.table.focus()
        self._trash.load()

    def _show(self, state: TrashState) -> None:
        self.query_one(".dialog").border_title = labels.title(trash_title(state))
        self.table.show([_row(row) for row in deleted_rows(state, time.time())])
        self.table.show_message(*explain_empty(state.error, NOTHING, loaded=state.loaded))

    def _selection(self) -> Iterable[str]:
        """Return the marked items, else the one under the cursor."""
        key = self.table.key
        return self._trash.slice.value.marked or ([] if key is None else [key])

    def action_mark(self) -> None:
        if self.table.key is not None:
            self._trash.mark(self.table.key)
            self.table.action_move(1)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        event.stop()
        self._do(self._trash.restore(self._selection()))


def _row(row: DeletedRow) -> Row:
    name = labels.line(row.name, "bold $accent" if row.marked else "")
    cells = (labels.muted(row.kind), name, labels.muted(row.deleted), labels.muted(row.left))
    return Row(row.id, cells, labels.tick(row.marked))
