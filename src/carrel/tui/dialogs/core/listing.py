"""The frame of a dialog with a table that follows a part of the state and can be filtered."""

from typing import Any, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType

from carrel.store.core.actions.slice import Slice
from carrel.tui.dialogs.core.dialog import Dialog
from carrel.tui.widgets.inputs.filter import ListFilter
from carrel.tui.widgets.tables.table import VirtualTable

S = TypeVar("S", bound=Any)


class Listing(Dialog[None], Generic[S]):
    """A table and the line that filters it; escape leaves the filter first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="listing.filter"),
        Binding("escape", "back", "Back", show=False, id="listing.back"),
    ]

    def __init__(self, title: str, part: Slice[S], *, hz: float = 30) -> None:
        """`part` is shown now and whenever it changes, `hz` times a second at most."""
        super().__init__(title)
        self._part = part
        self._hz = hz

    @property
    def table(self) -> VirtualTable:
        """The table."""
        return self.query_one(VirtualTable)

    @property
    def filter(self) -> ListFilter:
        """The line that filters the table."""
        return self.query_one(ListFilter)

    def on_mount(self) -> None:
        self.table.focus()
        self.follow(self._part, self.show_state, hz=self._hz)

    def show_state(self, state: S) -> None:
        """Show the state."""
        raise NotImplementedError

    def action_filter(self) -> None:
        if self.table.display:
            self.filter.begin(self.table)

    def action_back(self) -> None:
        if self.filter.field.has_focus:
            self.filter.leave()
        elif self.filter.over is not None:
            self.filter.end()
        else:
            self.dismiss(None)
