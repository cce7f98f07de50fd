"""The prompt: a field with history, `@` names and attachments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from carrel.store.chat.answering.attachments import as_mention
from carrel.store.chat.conversation import Attachment
from carrel.tui.terminal.textual_private import KeyedTextArea
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import MultilineField

_NAME = re.compile(r'(?:^|\s)@("?)([^\s"]*)$')


class Prompt(MultilineField, KeyedTextArea):
    """The question field: enter sends, alt+enter begins a new line.

    In the first line, `up` recalls earlier questions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="prompt.send"),
        Binding(
            "alt+enter,shift+enter,ctrl+j",
            "new_line",
            "New line",
            key_display="alt+enter",
            id="prompt.new_line",
        ),
        Binding("pageup", "page(-1)", "Page up", show=False, id="prompt.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="prompt.page_down"),
    ]

    @dataclass
    class Sent(Message):
        """Send the text. The field keeps it until `put_back` says that it was accepted."""

        prompt: "Prompt"

    @dataclass
    class Paged(Message):
        """Scroll the transcript by a screenful, up with -1."""

        by: int

    class Emptied(Message):
        """Backspace was pressed at the beginning."""

    @dataclass
    class Picking(Message):
        """A key for the list of suggested names."""

        key: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.asked: Sequence[str] = ()
        self.picking = False
        self._back = 0
        self._unsent = ""
        self._aside = ""

    def take_key(self, key: str) -> bool:
        actions = {"enter": self.action_send, "ctrl+j": self.action_new_line}
        if self.picking and key in ("up", "down", "enter", "escape"):
            self.post_message(self.Picking(key))
        elif key == "backspace" and not self.text:
            self.post_message(self.Emptied())
        elif action := actions.get(key):
            action()
        else:
            return self._recall(key)
        return True

    def action_send(self) -> None:
        if self.text.strip():
            self._back = 0
            self.post_message(self.Sent(self))

    def action_new_line(self) -> None:
        self.insert("\n")

    def action_page(self, by: int) -> None:
        if self.wrapped_document.height <= self.size.height:
            self.post_message(self.Paged(by))
        elif by < 0:
            self.action_cursor_page_up()
        else:
            self.action_cursor_page_down()

    def typed_name(self) -> str | None:
        """Return the typed part of an `@` name before the cursor, or None."""
        row, column = self.cursor_location
        found = _NAME.search(self.document.get_line(row)[:column])
        return found[2] if found else None

    def put_name(self, name: str) -> None:
        """Replace the typed part of a name by the whole name."""
        row, column = self.cursor_location
        found = _NAME.search(self.document.get_line(row)[:column])
        if found:
            begin = column - len(found[1] + found[2]) - 1
            self.replace(as_mention(name) + " ", (row, begin), (row, column))

    def put(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def take_up(self, text: str) -> None:
        """Put a question into the field for editing, and remember the current text."""
        self._aside = self._aside or self.text
        self.put(text)

    def put_back(self) -> None:
        """Restore the text from before an edit, else clear the field."""
        aside, self._aside = self._aside, ""
        self.put(aside)

    def _recall(self, key: str) -> bool:
        """Recall the previous or next question; return whether the key did so."""
        if key == "up" and self.cursor_at_first_line:
            back = self._back + 1
        elif key == "down" and self.cursor_at_last_line:
            back = self._back - 1
        else:
            return False
        if not 0 <= back <= len(self.asked):
            return False
        if self._back == 0:
            self._unsent = self.text
        self._back = back
        self.put(self._unsent if back == 0 else self.asked[-back])
        return True


class PromptBox(Vertical):
    """The field, the attachments above it, and the suggestions for a typed name."""

    DEFAULT_CSS = """
    PromptBox { height: auto; }
    PromptBox Prompt { height: auto; min-height: 3; max-height: 10; }
    PromptBox OptionList { height: auto; max-height: 8; margin: 0 1; display: none; }
    PromptBox #along { height: auto; padding: 0 1; display: none; }
    """

    @dataclass
    class Named(Message):
        """A name is being typed: suggestions are needed."""

        text: str

    @dataclass
    class Picked(Message):
        """A suggestion was chosen."""

        attachment: Attachment

    class TakenAway(Message):
        """Remove the last attachment."""

    prompt = query_one(Prompt)
    """The question field."""
    _names = query_one("#names", OptionList)

    def compose(self) -> ComposeResult:
        names = OptionList(id="names")
        names.can_focus = False
        yield names
        yield Static(id="along")
        yield Prompt(id="prompt")

    def on_mount(self) -> None:
        self._offered: tuple[Attachment, ...] = ()

    def show(self, title: str, attached: Sequence[Attachment], uploading: int) -> None:
        """Show the field's purpose unless it is a question, and the attachments."""
        self.prompt.border_title = labels.line(title, "bold $accent") if title else ""
        parts = [labels.line(f"▣ {one.name}", "$busy") for one in attached]
        if uploading:
            parts.append(Content.styled(f"◐ {uploading} uploading", "$busy"))
        if attached:
            parts.append(labels.muted("backspace in the empty field takes one away"))
        along = self.query_one("#along", Static)
        along.display = bool(parts)
        along.update(Content("  ").join(parts))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._look()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._look()

    def _look(self) -> None:
        name = self.prompt.typed_name()
        if name is None:
            self._offer(())
        else:
            self.post_message(self.Named(name))

    def offer(self, text: str, names: Sequence[Attachment]) -> None:
        """Suggest names for a text, unless the text has changed meanwhile."""
        if self.prompt.typed_name() == text:
            self._offer(tuple(names))

    def _offer(self, names: tuple[Attachment, ...]) -> None:
        if names == self._offered:
            return
        self._offered = names
        options = self._names
        options.display = self.prompt.picking = bool(names)
        options.clear_options()
        options.add_options(
            Option(Content.assemble(labels.line(one.name), (f"  {one.kind}", "$muted")))
            for one in names
        )
        options.highlighted = 0 if names else None

    def on_prompt_picking(self, event: Prompt.Picking) -> None:
        options = self._names
        if event.key == "up":
            options.action_cursor_up()
        elif event.key == "down":
            options.action_cursor_down()
        elif event.key == "enter" and options.highlighted is not None:
            self._pick(options.highlighted)
        else:
            self._offer(())

    def on_prompt_emptied(self, _event: Prompt.Emptied) -> None:
        self.post_message(self.TakenAway())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._pick(event.option_index)

    def _pick(self, index: int) -> None:
        one = self._offered[index]
        self.prompt.put_name(one.name)
        self._offer(())
        self.post_message(self.Picked(one))
