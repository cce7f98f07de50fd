"""Asking before something that cannot be taken back."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.tui.dialogs.core.dialog import Dialog, buttons
from carrel.tui.theme import labels


class Confirm(Dialog[bool]):
    """Says what would happen; True when it should.

    `at` has the session's words about a hosted service, where what is asked is done there. With
    `wary` enter cancels: the dialog opens by itself, maybe while somebody types.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "other", "Other", show=False, id="confirm.other"),
    ]

    def __init__(
        self, title: str, about: Sequence[Content], verb: str, at: str = "", *, wary: bool = False
    ) -> None:
        super().__init__(title)
        self._about = [*about, Content(""), labels.line(at, "$hosted")] if at else about
        self._verb = verb
        self._first = "#no" if wary else "#yes"

    def inside(self) -> ComposeResult:
        with VerticalScroll(classes="words", can_focus=False):
            yield Static(Content("\n").join(self._about))
        yield buttons(("no", "Cancel"), ("yes", self._verb))

    def on_mount(self) -> None:
        self.query_one(self._first).focus()

    def action_other(self) -> None:
        self.query_one("#no" if self.query_one("#yes").has_focus else "#yes").focus()

    def press(self, button: str) -> None:
        self.dismiss(button == "yes")
