"""The frame of every dialog."""

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from carrel.tui import labels
from carrel.tui.steady import Steady

T = TypeVar("T")


class Dialog(Steady, ModalScreen[T | None]):
    """A box over the place. Escape closes it with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False, id="dialog.close"),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = labels.title(self._title)
            yield from self.inside()

    def inside(self) -> ComposeResult:
        """What the box holds."""
        raise NotImplementedError


def buttons(*words: tuple[str, str]) -> Horizontal:
    """A row of buttons, each given by its id and its words."""
    made = [Button(Content(text), id=id, classes="plain") for id, text in words]
    return Horizontal(*made, classes="buttons")


def hint(text: str) -> Static:
    """A muted line on how to go on."""
    return Static(Content(text), classes="hint")
