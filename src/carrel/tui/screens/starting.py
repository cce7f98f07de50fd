"""The frame that is painted before anything is loaded."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from carrel.config.profiles import Profile
from carrel.tui.base.frame import Frame
from carrel.tui.theme import labels
from carrel.tui.widgets.frame.topbar import PLACES


class Starting(Frame):
    """The empty frame, shown while the rest is imported."""

    def __init__(self, profile: Profile, place: str) -> None:
        super().__init__()
        self._profile = profile
        self._place = place

    def panes(self) -> ComposeResult:
        pane = Static(classes="pane")
        pane.border_title = labels.title(PLACES[self._place])
        yield pane

    def on_mount(self) -> None:
        name = labels.profile(self._profile.name, self._profile.colour)
        words = "starting, read-only" if self._profile.read_only else "starting"
        self.top.place = self._place
        self.top.header = (Content.assemble(name, (f" ◐ {words}", "$busy")),)
