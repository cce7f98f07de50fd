"""One line to filter or search with; it is there only while it is used."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from carrel.tui.widgets.fields import Field

PAUSE = 0.2
"""Seconds without a key after which what was typed counts."""


class Filter(Horizontal):
    """Tells what is typed, a moment after the last key."""

    DEFAULT_CSS = """
    Filter { height: 1; display: none; padding: 0 1; }
    Filter.-shown { display: block; }
    Filter Static { width: 2; color: $accent; }
    Filter Field { border: none; height: 1; padding: 0; }
    Filter Field:focus { border: none; }
    """

    @dataclass
    class Changed(Message):
        """The text that is to count now."""

        text: str

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self._placeholder = placeholder
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content("/ "))
        yield Field(placeholder=self._placeholder)

    def begin(self, text: str) -> None:
        """Shows the line and takes the focus."""
        self.add_class("-shown")
        field = self.query_one(Field)
        with self.prevent(Input.Changed):
            field.value = text
        field.focus()

    def end(self) -> None:
        """Takes the line away."""
        self.remove_class("-shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, lambda: self.post_message(self.Changed(event.value)))

    def on_descendant_blur(self) -> None:
        if not self.query_one(Field).value:
            self.end()
