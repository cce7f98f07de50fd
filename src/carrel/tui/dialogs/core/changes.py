"""The question before a version is created or activated, with its changes."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Button, Static

from carrel.store.agents.formatting import FieldRow
from carrel.tui.dialogs.core.dialog import Dialog, buttons, hint
from carrel.tui.widgets.details.diff import DiffView


class _Shown(DiffView):
    """The changes; focusable only if they scroll."""

    def allow_focus(self) -> bool:
        return self.max_scroll_y > 0


class Changes(Dialog[str]):
    """Shows changes and returns the id of the answer; the last answer is the default."""

    DEFAULT_CSS = """
    Changes .dialog { width: 110; height: auto; max-height: 86%; padding: 0 1; }
    Changes Static { height: auto; padding: 0 1; }
    Changes DiffView { height: auto; min-height: 6; max-height: 60vh; margin: 1 0; }
    Changes .buttons { margin-top: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "split", "View side by side", show=False, id="changes.split"),
        Binding(
            "left_square_bracket", "change(-1)", "Change before", show=False, id="changes.before"
        ),
        Binding("right_square_bracket", "change(1)", "Next change", show=False, id="changes.next"),
        Binding("left", "app.focus_previous", "Other", show=False, id="changes.left"),
        Binding("right", "app.focus_next", "Other", show=False, id="changes.right"),
    ]

    def __init__(
        self,
        title: str,
        about: Content,
        rows: Sequence[FieldRow],
        answers: Sequence[tuple[str, str]],
        leaving: str = "closes",
    ) -> None:
        """Make the dialog. `leaving` says what esc does."""
        super().__init__(title)
        self._leaving = leaving
        self._about = about
        self._rows = rows
        self._answers = answers

    def compose_content(self) -> ComposeResult:
        yield Static(self._about)
        yield _Shown()
        yield hint(f"v side by side · [ ] changes · esc {self._leaving}")
        yield buttons(*self._answers)

    def on_mount(self) -> None:
        self.query_one(DiffView).show(self._rows)
        self.query(Button).last().focus()

    def action_split(self) -> None:
        view = self.query_one(DiffView)
        view.split = not view.split

    def action_change(self, step: int) -> None:
        self.query_one(DiffView).go(step)

    def press(self, button: str) -> None:
        self.dismiss(button)
