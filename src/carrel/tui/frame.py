"""The frame that every place has."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen

from carrel.tui.terminal.steadiness import Steady
from carrel.tui.widgets.filter import ListFilter
from carrel.tui.widgets.keybar import KeyBar
from carrel.tui.widgets.status import StatusLine
from carrel.tui.widgets.topbar import TopBar


class Frame(Steady, Screen[None]):
    """The top bar, the panes, the status line and the keys."""

    PLACE: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield TopBar(self.PLACE)
        with Horizontal(id="panes"):
            yield from self.panes()
        yield ListFilter()
        yield StatusLine()
        yield KeyBar()

    def panes(self) -> ComposeResult:
        """The panes from left to right."""
        raise NotImplementedError

    @property
    def top(self) -> TopBar:
        return self.query_one(TopBar)

    @property
    def list_filter(self) -> ListFilter:
        return self.query_one(ListFilter)

    @property
    def status(self) -> StatusLine:
        return self.query_one(StatusLine)
