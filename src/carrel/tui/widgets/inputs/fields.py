"""Text fields that distinguish dropped files from pasted text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from carrel.system.editor import EditorError
from carrel.text import clean_text
from carrel.tui.terminal.drops import Drop, parse_some
from carrel.tui.terminal.outside import edit_text
from carrel.tui.terminal.textual_private import bindings_of

if TYPE_CHECKING:
    from carrel.store.histories import HistoriesService


@dataclass
class Dropped(Message):
    """Files were dropped on a text field, or their paths were pasted."""

    drop: Drop


def _offer(field: Widget, event: events.Paste) -> None:
    event.text = clean_text(event.text)
    # Terminals paste the paths of dropped files, of which a field would take the first line.
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
        # An edited name may contain anything.
        return clean_text(value)

    def on_paste(self, event: events.Paste) -> None:
        _offer(self, event)


class RecallField(Field):
    """A line of text with a history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "recall(1)", "Up to the text before", show=False, id="recall.before"),
        Binding("down", "recall(-1)", "Down to the next text", show=False, id="recall.next"),
    ]

    def __init__(
        self, history: str, histories: "HistoriesService | None" = None, placeholder: str = ""
    ) -> None:
        """Make the field. `history` is the name of its list in the histories."""
        super().__init__(placeholder=placeholder)
        self.histories = histories
        self._history = history
        self._back = 0
        self._unsent = ""

    def action_recall(self, step: int) -> None:
        past = () if self.histories is None else self.histories.texts(self._history)
        back = self._back + step
        if not 0 <= back <= len(past):
            return
        if self._back == 0:
            self._unsent = self.value
        self._back = back
        self.value = past[-back] if back else self._unsent
        self.cursor_position = len(self.value)

    def on_blur(self) -> None:
        if self.histories is not None:
            self.histories.note(self._history, self.value)
        self._back = 0


class MultilineField(TextArea):
    """Several lines of text."""

    DEFAULT_CSS = """
    MultilineField { border: round $line; background: $background; padding: 0 1; }
    MultilineField:focus { border: round $accent; background-tint: $foreground 0%; }
    MultilineField .text-area--cursor-line { background: $background; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "edit_outside", "Edit in your editor", show=False, id="field.edit")
    ]

    @dataclass
    class NotEdited(Message):
        """The editor failed."""

        reason: str

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(clean_text(text), id=id, show_line_numbers=False)

    def on_paste(self, event: events.Paste) -> None:
        _offer(self, event)

    async def action_edit_outside(self) -> None:
        if bindings_of(self.screen, "f4"):
            raise SkipAction  # the form has an editor for all fields
        self.app.run_worker(self._edit_outside(), exit_on_error=False)

    async def _edit_outside(self) -> None:
        text = self.text
        try:
            after = clean_text(await edit_text(self.app, text))
        except EditorError as error:
            self.post_message(self.NotEdited(str(error)))
            return
        if self.text == text:
            self.text = after
            self.move_cursor(self.document.end)

    def action_copy(self) -> None:
        # Without a selection the key belongs to the screen, which stops its task.
        if self.selection.is_empty:
            raise SkipAction
        super().action_copy()
