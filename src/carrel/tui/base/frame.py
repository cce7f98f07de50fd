"""The frame of every place: the top bar, the panes, the status line and the keys."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from carrel.tui.terminal.textual_private import steady
from carrel.tui.widgets.frame.keybar import KeyBar
from carrel.tui.widgets.frame.panes import Panes
from carrel.tui.widgets.frame.status import StatusLine
from carrel.tui.widgets.frame.topbar import TopBar
from carrel.tui.widgets.inputs.filter import ListFilter


@steady
class Frame(Screen[None]):
    """A screen of panes beside each other.

    In a narrow window only the pane with the focus is visible.
    """

    PLACE: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield TopBar(self.PLACE)
        with Panes(id="panes"):
            yield from self.panes()
        yield ListFilter()
        yield StatusLine()
        yield KeyBar()

    def panes(self) -> ComposeResult:
        """Return the panes from left to right."""
        raise NotImplementedError

    @property
    def top(self) -> TopBar:
        """The top line."""
        return self.query_one(TopBar)

    @property
    def list_filter(self) -> ListFilter:
        """The line that filters a table, or finds words in a text."""
        return self.query_one(ListFilter)

    @property
    def status(self) -> StatusLine:
        """The status line."""
        return self.query_one(StatusLine)

    @property
    def one_pane(self) -> bool:
        """Whether one pane is seen at a time."""
        return self.has_class("-narrow") or self.has_class("-zoomed")

    # Moving among the panes

    def _panes(self) -> list[Widget]:
        return [pane for pane in self.query_one("#panes").children if not pane.has_class("-folded")]

    @property
    def first_pane(self) -> Widget:
        """The pane that a place begins with."""
        return self._panes()[0]

    def focus_pane(self, index: int) -> None:
        """Move the focus to a pane and, in a narrow window, shows it alone."""
        panes = self._panes()
        pane = panes[index % len(panes)]
        self._show_alone(pane)
        if stops := _stops(pane):
            stops[0].focus()

    def action_next_pane(self, step: int) -> None:
        panes = [pane for pane in self._panes() if _stops(pane)]
        here = next((i for i, pane in enumerate(panes) if pane.has_class("-current")), 0)
        stops = _stops(panes[here])
        at = stops.index(self.focused) + step if self.focused in stops else -1
        if 0 <= at < len(stops):
            stops[at].focus()
            return
        pane = panes[(here + step) % len(panes)]
        self._show_alone(pane)
        _stops(pane)[0 if step > 0 else -1].focus()

    def _show_alone(self, pane: Widget) -> None:
        for other in self.query_one("#panes").children:
            other.set_class(other is pane, "-current")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for pane in self.query_one("#panes").children:
            if event.widget in pane.walk_children(with_self=True):
                self._show_alone(pane)

    def action_details(self) -> None:
        details = self.query(".details")
        if not self.one_pane:
            details.toggle_class("-folded")
        elif details.filter(".-current"):
            self.focus_pane(0)
        else:
            # Nothing is folded where one pane is seen at a time: its key goes to it.
            pane = details.remove_class("-folded").first()
            self._show_alone(pane)
            if stops := _stops(pane):
                stops[0].focus()


def _stops(pane: Widget) -> list[Widget]:
    """Return the widgets in a pane that can take the focus. The pane itself may be hidden."""
    stops = [pane] if pane.can_focus and not pane.is_disabled else []
    for child in pane.children:
        if child.display:
            stops += _stops(child)
    return stops
