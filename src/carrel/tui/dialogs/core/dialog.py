"""The frame of every dialog."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, OptionList, Static

from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.tui.terminal.textual_private import steady
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.filter import ListFilter
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.tui.widgets.text.pane import FindText, TextPane

T = TypeVar("T")
S = TypeVar("S", bound=Any)

FILTER_KEY = Binding("slash", "filter", "Filter", id="listing.filter")
"""The binding for a dialog with a table and a `ListFilter`."""


@steady
class Dialog(ModalScreen[T | None]):
    """A box over the screen. Escape closes it with None, and so does a click beside it."""

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
        Binding("escape", "back", "Close", show=False, id="dialog.close"),
        # With priority: keys typed right after it go to the next field.
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
        self._closers: list[Callable[[], None]] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = labels.title(self._title)
            yield from self.compose_content()

    def compose_content(self) -> ComposeResult:
        """Return the content of the box."""
        raise NotImplementedError

    def follow(self, part: Slice[S], show: Callable[[S], object], *, hz: float = 30) -> None:
        """Show a part of the state now and after every change, while the dialog is open."""
        self._closers.append(watch(part, show, deliver=self.call_later, hz=hz))

    def on_unmount(self) -> None:
        for close in self._closers:
            close()

    def refuse(self, why: str) -> None:
        """Show the reason why the dialog stays open in its hint."""
        self.query_one(".hint", Static).update(labels.block(why, "$failed"))

    def press(self, button: str) -> None:
        """Handle a button by its id: the first cancels, the others accept."""
        if button == "cancel":
            self.dismiss(None)
        else:
            self.action_accept()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.press(event.button.id or "")

    def on_click(self, event: events.Click) -> None:
        # What was typed is not lost to a click.
        is_form = len(self.query("Input, TextArea")) > len(self.query("ListFilter Input"))
        if event.widget is self and not is_form:
            self.action_back()

    def action_back(self) -> None:
        """End the filter of a list, else close the dialog."""
        if not any(line.step_back() for line in self.query(ListFilter)):
            self.dismiss(None)

    def action_filter(self) -> None:
        """Filter the dialog's table, or search its text."""
        over = self.query("VirtualTable, TextPane").first()
        if isinstance(over, VirtualTable | TextPane) and over.display:
            self.query_one(ListFilter).begin(over)

    def action_accept(self) -> None:
        """Return the choice or input, if it is valid."""

    def action_move(self, step: int) -> None:
        """Move the list's cursor down, or up with -1."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()


class TextDialog(Dialog[None]):
    """A long text, in which words can be found."""

    DEFAULT_CSS = """
    TextDialog .dialog { width: 80; height: 90%; }
    TextDialog .words { height: 1fr; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        FILTER_KEY,
        Binding("right_square_bracket", "hit(1)", "Next hit", show=False, id="text.hit_after"),
        Binding("left_square_bracket", "hit(-1)", "Hit before", show=False, id="text.hit_before"),
    ]

    def __init__(self, title: str, parts: Sequence[Content], about: str = "") -> None:
        super().__init__(title)
        self._text = Content("\n").join(parts)
        self._about = about

    def compose_content(self) -> ComposeResult:
        with TextPane(classes="words"):
            yield FindText(self._text)
        yield ListFilter()
        yield hint(f"/ finds · esc closes{self._about}")

    def action_hit(self, step: int) -> None:
        self.query_one(TextPane).go_to_hit(step)


def buttons(*words: tuple[str, str]) -> Horizontal:
    """Return a row of buttons from pairs of id and label."""
    made = [Button(Content(text), id=id, classes="plain") for id, text in words]
    return Horizontal(*made, classes="buttons")


def hint(text: str) -> Static:
    """Return a muted hint."""
    return Static(Content(text), classes="hint")
