"""Asking for one line of text, or for one of several things."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from carrel.tui.dialogs.dialog import Dialog, hint
from carrel.tui.looks import labels
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
    """One of several things, by its id."""

    DEFAULT_CSS = """
    Choose OptionList { height: auto; max-height: 16; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move('down')", "Down", show=False, id="choose.down"),
        Binding("k", "move('up')", "Up", show=False, id="choose.up"),
    ]

    HOW: ClassVar[str] = "enter chooses · esc closes"

    def __init__(self, title: str, things: Sequence[Thing]) -> None:
        super().__init__(title)
        self.things = things

    def inside(self) -> ComposeResult:
        yield OptionList(
            *(
                Option(
                    Content.assemble(
                        labels.line(thing.name), labels.line("  " + thing.details, "$muted")
                    )
                )
                for thing in self.things
            )
        )
        yield hint(self.HOW)

    def action_move(self, direction: str) -> None:
        options = self.query_one(OptionList)
        if direction == "down":
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.things[event.option_index].id)
