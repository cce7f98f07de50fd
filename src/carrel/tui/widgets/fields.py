"""Text fields that know a dropped file from pasted text."""

from dataclasses import dataclass

from textual import events
from textual.actions import SkipAction
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from carrel.text import clean_text
from carrel.tui.terminal.drops import Drop, parse_some


@dataclass
class Dropped(Message):
    """Files were dropped on a text field, or their paths pasted into it."""

    drop: Drop


def _offer(field: Widget, event: events.Paste) -> None:
    event.text = clean_text(event.text)
    if (drop := parse_some(event.text)).files:
        event.prevent_default()
        event.stop()
        field.post_message(Dropped(drop))


class Field(Input):
    """One line of text."""

    DEFAULT_CSS = """
    Field { border: round $line; background: $background; padding: 0 1; height: 3; }
    Field:focus { border: round $accent; background-tint: $foreground 0%; }
    """

    def validate_value(self, value: str) -> str:
        # A name that is edited may hold anything.
        return clean_text(value)

    def on_paste(self, event: events.Paste) -> None:
        _offer(self, event)


class MultilineField(TextArea):
    """Several lines of text."""

    DEFAULT_CSS = """
    MultilineField { border: round $line; background: $background; padding: 0 1; }
    MultilineField:focus { border: round $accent; background-tint: $foreground 0%; }
    MultilineField .text-area--cursor-line { background: $background; }
    """

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(clean_text(text), id=id, show_line_numbers=False)

    def on_paste(self, event: events.Paste) -> None:
        _offer(self, event)

    def action_copy(self) -> None:
        # With nothing selected the key belongs to the place, which stops its task.
        if self.selection.is_empty:
            raise SkipAction
        super().action_copy()
