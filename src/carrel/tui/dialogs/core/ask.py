"""Dialogs for one line of text, or for one of several options."""

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.selection_list import Selection

from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.terminal.textual_private import bindings_of
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.choices import Choices
from carrel.tui.widgets.inputs.fields import Field


class Ask(Dialog[str]):
    """Asks for one line of text, never empty."""

    def __init__(self, title: str, placeholder: str = "", value: str = "") -> None:
        super().__init__(title)
        self._placeholder = placeholder
        self._value = value

    def compose_content(self) -> ComposeResult:
        yield Field(self._value, placeholder=self._placeholder)
        yield _hint(self._placeholder, self._value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if text := event.value.strip():
            self.dismiss(text)


def _hint(about: str, value: str) -> Static:
    # A field with a value hides its placeholder.
    return hint(" · ".join(filter(None, (about if value else "", "enter accepts", "esc closes"))))


class AskNumber(Dialog[int]):
    """Asks for a whole number from `first` to `last`; `wrong` is the message for any other
    input."""

    def __init__(
        self, title: str, first: int, last: int, wrong: str, *, about: str, value: str = ""
    ) -> None:
        super().__init__(title)
        self._range = range(first, last + 1)
        self._wrong = wrong
        self._about = about
        self._value = value

    def compose_content(self) -> ComposeResult:
        yield Field(self._value, placeholder=self._about)
        yield _hint(self._about, self._value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        # Python refuses to read thousands of digits.
        if text.isdecimal() and len(text) < 10 and int(text) in self._range:
            self.dismiss(int(text))
        elif text:
            self.refuse(self._wrong)


@dataclass(frozen=True)
class Option:
    """One option; `key` is its letter if it is fixed in every menu."""

    id: str
    name: str
    details: str = ""
    key: str = ""


LETTERS = {
    "name": "n", "id": "i", "path": "p", "link (30 min)": "l", "link (24 h)": "l",
    "link (1 h)": "1", "link (7 days)": "7", "link, hours…": "h",
    "text": "t", "page": "t", "instructions": "t", "block": "b", "passage": "b",
    "all pages": "a", "answer": "a",
    "source": "s", "table as CSV": "c", "table as Markdown": "m", "code": "c", "schema": "e",
    "curl": "c", "Python": "y", "command": "m", "request": "r", "request id": "i",
}  # fmt: skip
"""The letter of each part that can be copied: the same in every menu."""


def copy_options(parts: Mapping[str, str]) -> list[Option]:
    """Return the options to copy parts, given with a word on each."""
    return [
        Option(part, f"Copy {part}", about, LETTERS.get(part, "")) for part, about in parts.items()
    ]


class Menu(OptionList):
    """A list of options, each with a letter that selects it at once."""

    DEFAULT_CSS = "Menu { height: auto; max-height: 16; margin-bottom: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False, id="choose.down"),
        Binding("k", "cursor_up", "Up", show=False, id="choose.up"),
    ]

    def __init__(self, options: Sequence[Option], dialog: Dialog[Any]) -> None:
        super().__init__()
        keys = [letter for letter in string.ascii_lowercase if not bindings_of(dialog, letter)]
        self._letters = letters(options, [key for key in keys if not bindings_of(self, key)])
        self.add_options(
            Content.assemble((f"{letter or ' '}  ", "$muted"), _words(option))
            for letter, option in zip(self._letters, options, strict=True)
        )
        self.action_first()

    def on_key(self, event: events.Key) -> None:
        if event.character and event.character in self._letters:
            event.stop()
            self.highlighted = self._letters.index(event.character)
            self.action_select()


class Choose(Dialog[str]):
    """Asks for one of several options, returned by id. A letter selects at once."""

    def __init__(
        self, title: str, options: Sequence[Option], about: Sequence[Content] = ()
    ) -> None:
        super().__init__(title)
        self._options = options
        self._about = about

    def compose_content(self) -> ComposeResult:
        if self._about:
            yield Static(Content("\n").join([*self._about, Content("")]))
        yield Menu(self._options, self)
        yield hint("a letter or enter chooses · esc closes")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._options[event.option_index].id)


class ChooseMany(Dialog[tuple[str, ...]]):
    """Asks for several options, returned by id: the marked ones, else the one under the cursor."""

    DEFAULT_CSS = "ChooseMany Choices { height: auto; max-height: 16; margin-bottom: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the list would use the key for marking.
        Binding("enter", "accept", "Accept", show=False, priority=True, id="many.accept"),
        Binding("j", "move(1)", "Down", show=False, id="many.down"),
        Binding("k", "move(-1)", "Up", show=False, id="many.up"),
    ]

    def __init__(self, title: str, options: Sequence[Option]) -> None:
        super().__init__(title)
        self._options = options

    def compose_content(self) -> ComposeResult:
        yield Choices(*(Selection(_words(option), option.id) for option in self._options))
        yield hint("space marks · enter accepts · esc closes")

    def action_accept(self) -> None:
        choices = self.query_one(Choices)
        marked = set(choices.selected)
        if not marked and choices.highlighted is not None:
            marked = {self._options[choices.highlighted].id}
        self.dismiss(tuple(option.id for option in self._options if option.id in marked))


def _words(option: Option) -> Content:
    return Content.assemble(labels.line(option.name), labels.line("  " + option.details, "$muted"))


def letters(options: Sequence[Option], free: Iterable[str]) -> list[str]:
    """Return a letter for each option: its key, else a free letter of its name.

    Empty once no letter is left.
    """
    keys = {option.key for option in options}
    left = dict.fromkeys(letter for letter in free if letter not in keys)
    chosen = []
    for option in options:
        own = (letter for letter in option.name.lower() if letter in left)
        letter = option.key or next(own, next(iter(left), ""))
        left.pop(letter, None)
        chosen.append(letter)
    return chosen
