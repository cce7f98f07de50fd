"""Asking for one line of text, or for one of several things."""

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from carrel.tui.dialogs.dialog import Dialog, hint
from carrel.tui.looks import labels
from carrel.tui.terminal.textual_private import bindings_of
from carrel.tui.widgets.fields import Field


class Ask(Dialog[str]):
    """One line of text; never empty."""

    def __init__(self, title: str, placeholder: str = "", value: str = "") -> None:
        super().__init__(title)
        self._placeholder = placeholder
        self._value = value

    def inside(self) -> ComposeResult:
        yield Field(self._value, placeholder=self._placeholder)
        yield hint("enter accepts · esc closes")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if text := event.value.strip():
            self.dismiss(text)


@dataclass(frozen=True)
class Thing:
    """One thing to choose."""

    id: str
    name: str
    details: str = ""


class Choose(Dialog[str]):
    """One of several things, by its id. A letter chooses at once."""

    DEFAULT_CSS = """
    Choose OptionList { height: auto; max-height: 16; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move('down')", "Down", show=False, id="choose.down"),
        Binding("k", "move('up')", "Up", show=False, id="choose.up"),
    ]

    HOW: ClassVar[str] = "a letter or enter chooses · esc closes"

    def __init__(self, title: str, things: Sequence[Thing]) -> None:
        super().__init__(title)
        self.things = things
        free = [letter for letter in string.ascii_lowercase if not bindings_of(self, letter)]
        self._letters = letters([thing.name for thing in things], free)

    def inside(self) -> ComposeResult:
        yield OptionList(
            *(
                Option(
                    Content.assemble(
                        (f"{letter or ' '}  ", "$muted"),
                        labels.line(thing.name),
                        labels.line("  " + thing.details, "$muted"),
                    )
                )
                for letter, thing in zip(self._letters, self.things, strict=True)
            )
        )
        yield hint(self.HOW)

    def on_key(self, event: events.Key) -> None:
        if event.character and event.character in self._letters:
            event.stop()
            self.dismiss(self.things[self._letters.index(event.character)].id)

    def action_move(self, direction: str) -> None:
        options = self.query_one(OptionList)
        if direction == "down":
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.things[event.option_index].id)


def letters(names: Sequence[str], free: Iterable[str]) -> list[str]:
    """A letter for each name, one of its own where that is free; empty once none is left."""
    left = dict.fromkeys(free)
    chosen = []
    for name in names:
        own = (letter for letter in name.lower() if letter in left)
        letter = next(own, next(iter(left), ""))
        left.pop(letter, None)
        chosen.append(letter)
    return chosen
