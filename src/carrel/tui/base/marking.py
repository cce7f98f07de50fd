"""Keys that mark several rows of a list at once."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from textual.binding import Binding, BindingType

from carrel.store.core.actions.handle import Handle
from carrel.tui.base.screen import MainScreen
from carrel.tui.widgets.tables.table import VirtualTable

MARKING = ("mark", "mark_range", "mark_all", "invert_marks", "mark_none")
"""The actions that change marks."""


class Marks(Protocol):
    """A part of the store whose items are marked."""

    def mark_range(self, ids: Iterable[str], /) -> Handle[None]:
        """Mark several items."""

    def mark_none(self) -> Handle[None]:
        """Remove all marks."""

    def mark_all(self) -> Handle[None]:
        """Mark every item of the list."""

    def invert_marks(self) -> Handle[None]:
        """Mark every unmarked item of the list, and no other one of it."""


class MarkingScreen(MainScreen):
    """A place with a table whose rows are marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark", show=False, id="marks.toggle"),
        Binding(
            "ctrl+@,ctrl+space,ctrl+v", "mark_range", "Mark up to here",
            key_display="ctrl+space", show=False, id="marks.range",
        ),
        Binding("ctrl+a", "mark_all", "Mark all", show=False, id="marks.all"),
        Binding("asterisk", "invert_marks", "Invert marks", key_display="*", show=False,
            id="marks.invert",
        ),
        Binding("ctrl+backslash", "mark_none", "Mark none", show=False, id="marks.none"),
    ]  # fmt: skip

    @property
    def marks(self) -> Marks:
        """The part of the store whose items are marked."""
        raise NotImplementedError

    @property
    def marked_table(self) -> VirtualTable:
        """The table of those items."""
        raise NotImplementedError

    def mark_one(self, key: str) -> bool:
        """Toggle a mark, or return False where the row has none."""
        raise NotImplementedError

    def action_mark(self) -> None:
        table = self.marked_table
        if table.key is not None and self.mark_one(table.key):
            table.set_anchor()
            table.action_move(1)

    def action_mark_range(self) -> None:
        keys = self.marked_table.keys_from_anchor()
        self.marks.mark_range([key for key in keys if key is not None])
        if missing := keys.count(None):
            self.notice(f"{missing:,} rows between are not loaded yet: they got no mark.")

    def action_mark_all(self) -> None:
        self.do(self.marks.mark_all())

    def action_invert_marks(self) -> None:
        self.do(self.marks.invert_marks())

    def action_mark_none(self) -> None:
        self.marks.mark_none()
