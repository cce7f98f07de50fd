"""The frame that is painted before anything is loaded."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from carrel.config.profiles import Profile
from carrel.tui.base.frame import Frame
from carrel.tui.theme import labels


class Starting(Frame):
    """The empty frame, shown while the rest is imported."""

    PLACE: ClassVar[str] = "files"

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._profile = profile

    def panes(self) -> ComposeResult:
        pane = Static(classes="pane")
        pane.border_title = labels.title("Files")
        yield pane

    def on_mount(self) -> None:
        name = labels.profile(self._profile.name, self._profile.colour)
        words = "starting, read-only" if self._profile.read_only else "starting"
        self.top.header = (Content.assemble(name, (f" ◐ {words}", "$busy")),)
