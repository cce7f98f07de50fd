"""Asking for any number of options."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.selection_list import Selection

from carrel.tui.dialogs.core.ask import Option
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.choices import Choices


class ChooseMany(Dialog[tuple[str, ...]]):
    """The marked ones of several options by their ids, else the one under the cursor."""

    DEFAULT_CSS = """
    ChooseMany Choices { height: auto; max-height: 16; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the list would mark with it.
        Binding("enter", "accept", "Accept", show=False, priority=True, id="many.accept"),
        Binding("j", "move(1)", "Down", show=False, id="many.down"),
        Binding("k", "move(-1)", "Up", show=False, id="many.up"),
    ]

    def __init__(self, title: str, options: Sequence[Option]) -> None:
        super().__init__(title)
        self._things = options

    def inside(self) -> ComposeResult:
        yield Choices(*(Selection(_words(thing), thing.id) for thing in self._things))
        yield hint("space marks · enter accepts · esc closes")

    def action_accept(self) -> None:
        choices = self.query_one(Choices)
        marked = set(choices.selected)
        if not marked and choices.highlighted is not None:
            marked = {self._things[choices.highlighted].id}
        self.dismiss(tuple(thing.id for thing in self._things if thing.id in marked))


def _words(thing: Option) -> Content:
    return Content.assemble(labels.line(thing.name), labels.line("  " + thing.details, "$muted"))
