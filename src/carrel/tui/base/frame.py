"""The frame of every screen: top bar, panes, status line and key bar."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.getters import query_one
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
    """A screen of panes side by side.

    A narrow window shows only the focused pane.
    """

    PLACE: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012
    top = query_one(TopBar)
    """The top line."""
    list_filter = query_one(ListFilter)
    """The line that filters a table or searches a text."""
    status = query_one(StatusLine)
    """The status line."""

    def compose(self) -> ComposeResult:
        yield TopBar(self.PLACE)
        with Panes(id="panes"):
            yield from self.panes()
        yield ListFilter()
        yield StatusLine()
        yield KeyBar()

    def panes(self) -> ComposeResult:
        """Yield the panes from left to right."""
        raise NotImplementedError

    @property
    def one_pane(self) -> bool:
        """Whether only one pane is visible at a time."""
        return self.has_class("-narrow") or self.has_class("-zoomed")

    # Focus of panes

    def _panes(self) -> list[Widget]:
        return [pane for pane in self.query_one("#panes").children if not pane.has_class("-folded")]

    @property
    def first_pane(self) -> Widget:
        """The pane that has the focus at first."""
        return self._panes()[0]

    def focus_pane(self, index: int) -> None:
        """Focus a pane; a narrow window then shows it alone."""
        panes = self._panes()
        self._enter(panes[index % len(panes)])

    def _enter(self, pane: Widget) -> None:
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
            # The focus may have moved on before its event arrives.
            inside = event.widget in pane.walk_children(with_self=True)
            if inside and event.widget is self.focused:
                self._show_alone(pane)

    def action_details(self) -> None:
        details = self.query(".details")
        if not self.one_pane:
            details.toggle_class("-folded")
        elif details.filter(".-current"):
            self.focus_pane(0)
        else:
            # No pane is folded while only one is visible: its key focuses it.
            self._enter(details.remove_class("-folded").first())


def _stops(pane: Widget) -> list[Widget]:
    """Return the focusable widgets in a pane, which itself may be hidden."""
    stops = [pane] if pane.can_focus and not pane.is_disabled else []
    for child in pane.children:
        if child.display:
            stops += _stops(child)
    return stops
