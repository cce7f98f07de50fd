"""Filter and search lines, visible only while in use."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from carrel.store.core.formatting import counted
from carrel.store.core.lists import NameFilter
from carrel.tui.widgets.inputs.fields import Field, RecallField
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.tui.widgets.text.pane import TextPane

if TYPE_CHECKING:
    from carrel.store.histories import HistoriesService

PAUSE = 0.2
"""Debounce in seconds before the input applies."""


class FilterLine(Horizontal):
    """Posts its input, debounced."""

    DEFAULT_CSS = """
    FilterLine { height: 1; display: none; padding: 0 1; }
    FilterLine.-shown { display: block; }
    FilterLine Static { width: 2; color: $accent; }
    FilterLine Field { border: none; height: 1; padding: 0; }
    FilterLine Field:focus { border: none; }
    """

    @dataclass
    class Changed(Message):
        """The input to apply now."""

        text: str

    def __init__(self, placeholder: str, history: str, histories: "HistoriesService") -> None:
        super().__init__()
        self._placeholder = placeholder
        self._history = history
        self._histories = histories
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content("/ "))
        yield RecallField(self._history, self._histories, self._placeholder)

    def begin(self, text: str) -> None:
        """Show the line and focus it."""
        self.add_class("-shown")
        field = self.query_one(Field)
        with self.prevent(Input.Changed):
            field.value = text
        field.focus()

    def end(self) -> None:
        """Hide the line."""
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
    """Filters one table, or searches one text.

    It stays visible as a chip while the filter is active.
    """

    DEFAULT_CSS = """
    ListFilter { height: 1; display: none; padding: 0 1; }
    ListFilter.-shown { display: block; }
    ListFilter Static { width: auto; color: $accent; }
    ListFilter .count { color: $muted; padding-left: 2; }
    ListFilter Field { border: none; height: 1; padding: 0; width: 1fr; }
    ListFilter Field:focus { border: none; }
    """
    field = query_one(RecallField)
    """The filter's field."""

    def __init__(self) -> None:
        super().__init__()
        self.over: VirtualTable | TextPane | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="what")
        yield RecallField("lists")
        yield Static(classes="count")

    def begin(self, over: VirtualTable | TextPane) -> None:
        """Show the line for a table or a text, and focus it."""
        if over is not self.over:
            self.end()
            self.over = over
        filters = isinstance(over, VirtualTable)
        self.query_one("#what", Static).update(Content("filter: " if filters else "find: "))
        self.field.placeholder = "words to keep, !words to leave out" if filters else "words"
        self.add_class("-shown")
        self._apply()
        self.field.focus()

    def end(self) -> None:
        """Hide the line and remove the filter."""
        with self.prevent(Input.Changed):
            self.field.value = ""
        self._apply()
        self.over = None
        self.remove_class("-shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._apply()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave()

    def leave(self) -> None:
        """Return the focus to the filtered widget. The input stays active; an empty input is no
        filter."""
        over = self.over
        if not self.field.value.strip():
            self.end()
        if over is not None:
            over.focus()

    def step_back(self) -> bool:
        """Leave the field, or end the filter of the focused widget; return False if there is
        none."""
        if self.field.has_focus:
            self.leave()
        elif self.over is not None and self.over is self.screen.focused:
            self.end()
        else:
            return False
        return True

    def _apply(self) -> None:
        text = self.field.value
        if isinstance(self.over, VirtualTable):
            self.over.filter(NameFilter.parse(text))
            words = f"{len(self.over.rows)} of {self.over.total}"
        elif self.over is not None:
            lines = counted(self.over.find(text.strip()), "line")
            words = f"{lines} · [ ] goes from one to the next"
        else:
            return
        self.query_one(".count", Static).update(Content(f"{words} · esc clears"))
