"""The question before an action that cannot be undone."""

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
    """Describes an action; returns True if it is confirmed.

    `at` has the session's caution for an action at a hosted service.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "other", "Other", show=False, id="confirm.other")
    ]

    def __init__(self, title: str, about: Sequence[Content], verb: str, at: str = "") -> None:
        super().__init__(title)
        self._about = [*about, Content(""), labels.line(at, "$hosted")] if at else about
        self._verb = verb

    def compose_content(self) -> ComposeResult:
        with VerticalScroll(classes="words", can_focus=False):
            yield Static(Content("\n").join(self._about))
        yield buttons(("no", "Cancel"), ("yes", self._verb))

    def on_mount(self) -> None:
        self.query_one("#yes").focus()

    def action_other(self) -> None:
        self.query_one("#no" if self.query_one("#yes").has_focus else "#yes").focus()

    def press(self, button: str) -> None:
        self.dismiss(button == "yes")


class Permit(Dialog[str]):
    """Asks for one of several permissions, returned by id.

    The first option, chosen by enter, gives none: the dialog opens unasked, maybe while the user
    types.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "Other", show=False, id="permit.previous"),
        Binding("right", "app.focus_next", "Other", show=False, id="permit.next"),
    ]

    def __init__(
        self, title: str, about: Sequence[Content], choices: Sequence[tuple[str, str]]
    ) -> None:
        super().__init__(title)
        self._about = about
        self._choices = choices

    def compose_content(self) -> ComposeResult:
        with VerticalScroll(classes="words", can_focus=False):
            yield Static(Content("\n").join(self._about))
        yield buttons(*self._choices)

    def on_mount(self) -> None:
        self.query_one(f"#{self._choices[0][0]}").focus()

    def press(self, button: str) -> None:
        self.dismiss(button)
