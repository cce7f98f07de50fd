"""A problem and its next step, in text that can be copied."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Button, Static

from carrel.store.core.problem import Problem
from carrel.tui.dialogs.core.dialog import Dialog, buttons
from carrel.tui.terminal.clipboard import copy
from carrel.tui.theme import labels
from carrel.tui.widgets.text.pane import TextPane


class ProblemPanel(Dialog[None]):
    """Shows a problem until it is closed."""

    DEFAULT_CSS = "ProblemPanel .dialog { border: round $failed; border-title-color: $failed; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy", "Copy", id="problem.copy")]

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self._problem = problem

    def compose_content(self) -> ComposeResult:
        with TextPane(classes="words"):
            yield Static(labels.block(self._problem.detail))
            if self._problem.advice:
                yield Static(Content(""))
                yield Static(labels.block(self._problem.advice, "$muted"))
        yield buttons(("copy", "y Copy"), ("close", "Close"))

    def on_mount(self) -> None:
        self.query_one("#close").focus()

    def action_copy(self) -> None:
        copy(self.app, str(self._problem))
        self.query_one("#copy", Button).label = Content("Copied")

    def press(self, button: str) -> None:
        if button == "copy":
            self.action_copy()
        else:
            self.dismiss(None)
