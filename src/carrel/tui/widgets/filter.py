"""Lines to filter or search with; they are there only while they are used."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from carrel.store.selectors.filters import Filter as Words
from carrel.tui.widgets.fields import Field
from carrel.tui.widgets.table import VirtualTable

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


class ListFilter(Horizontal):
    """Filters one table by what is typed, and stays as its chip while the filter is in force."""

    DEFAULT_CSS = """
    ListFilter { height: 1; display: none; padding: 0 1; }
    ListFilter.-shown { display: block; }
    ListFilter Static { width: auto; color: $accent; }
    ListFilter .count { color: $muted; padding-left: 2; }
    ListFilter Field { border: none; height: 1; padding: 0; width: 1fr; }
    ListFilter Field:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.table: VirtualTable | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content("filter: "))
        yield Field(placeholder="words to keep, !words to leave out")
        yield Static(classes="count")

    @property
    def field(self) -> Field:
        """Where the filter is typed."""
        return self.query_one(Field)

    def begin(self, table: VirtualTable) -> None:
        """Shows the line for a table and takes the focus."""
        if table is not self.table:
            self.end()
            self.table = table
        self.add_class("-shown")
        self._count()
        self.field.focus()

    def end(self) -> None:
        """Takes the line and the filter away."""
        if self.table is not None:
            self.table.filter(Words())
        self.table = None
        self.remove_class("-shown")
        with self.prevent(Input.Changed):
            self.field.value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.table is not None:
            self.table.filter(Words.parse(event.value))
            self._count()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave()

    def leave(self) -> None:
        """Back to the table. What was typed counts; nothing typed is no filter."""
        table = self.table
        if not self.field.value.strip():
            self.end()
        if table is not None:
            table.focus()

    def _count(self) -> None:
        if self.table is not None:
            words = f"{len(self.table.rows)} of {self.table.total} · esc clears"
            self.query_one(".count", Static).update(Content(words))
