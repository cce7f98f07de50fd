"""The frame of every dialog."""

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from carrel.tui.terminal.textual_private import Steady
from carrel.tui.theme import labels

T = TypeVar("T")


class Dialog(Steady, ModalScreen[T | None]):
    """A box over the place. Escape closes it with None."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog .dialog {
        width: 72;
        max-width: 94%;
        height: auto;
        max-height: 92%;
        border: round $accent;
        border-title-color: $accent;
        background: $background;
        padding: 1 2;
    }
    Dialog .words { height: auto; max-height: 14; }
    Dialog .buttons { height: 1; margin-top: 1; align-horizontal: right; }
    Dialog .hint { color: $muted; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False, id="dialog.close"),
        # With priority, what is typed right after the key goes to the next field.
        Binding("tab", "app.focus_next", "Next field", show=False, priority=True, id="dialog.next"),
        Binding(
            "shift+tab",
            "app.focus_previous",
            "Previous field",
            show=False,
            priority=True,
            id="dialog.previous",
        ),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = labels.title(self._title)
            yield from self.inside()

    def inside(self) -> ComposeResult:
        """Return the content of the box."""
        raise NotImplementedError


def buttons(*words: tuple[str, str]) -> Horizontal:
    """Return a row of buttons, each given by its id and its words."""
    made = [Button(Content(text), id=id, classes="plain") for id, text in words]
    return Horizontal(*made, classes="buttons")


def hint(text: str) -> Static:
    """Return a muted line on how to go on."""
    return Static(Content(text), classes="hint")
