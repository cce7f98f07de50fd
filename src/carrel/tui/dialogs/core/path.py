"""Choosing files by their path: typed with completion, pasted, or dropped."""

import asyncio
from pathlib import Path
from typing import ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.terminal.completion import PathCompletion, complete
from carrel.tui.terminal.drops import parse_drop
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Dropped, Field
from carrel.tui.workbench import Workbench


class PathDialog(Dialog[tuple[Path, ...]]):
    """Gives existing files. Tab completes; the arrows choose among the matches."""

    PLACEHOLDER: ClassVar[str] = "Path of a file, such as ~/Documents/invoice.pdf"
    MISSING: ClassVar[str] = "There is no file at this path."
    HOW: ClassVar[str] = "tab completes · ↑ ↓ choose · enter accepts · or drop a file here"
    DEFAULT_CSS = """
    PathDialog OptionList { height: 10; margin: 0 1; }
    PathDialog .dialog { width: 90; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", id="path.complete"),
        Binding("down", "move('down')", "Down", show=False, id="path.down"),
        Binding("up", "move('up')", "Up", show=False, id="path.up"),
    ]

    def __init__(self, title: str = "Upload") -> None:
        super().__init__(title)
        self._completion = PathCompletion("", ())

    def inside(self) -> ComposeResult:
        yield Field(placeholder=self.PLACEHOLDER)
        matches = OptionList()
        matches.can_focus = False
        yield matches
        yield hint(self.HOW)

    def on_mount(self) -> None:
        self._look("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @work(exclusive=True, exit_on_error=False)
    async def _look(self, typed: str) -> None:
        self._completion = await asyncio.to_thread(complete, typed, self.offers)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(
            Option(labels.line(match.rstrip("/").rpartition("/")[2] + "/" * match.endswith("/")))
            for match in self._completion.matches
        )

    def action_move(self, direction: str) -> None:
        options = self.query_one(OptionList)
        if direction == "down":
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    async def action_complete(self) -> None:
        typed = self.query_one(Field).value
        certain = await asyncio.to_thread(complete, typed, self.offers)
        self._type(self._chosen() or certain.text)

    def _chosen(self) -> str | None:
        """Return the match that the arrows stand on, if it goes with what is typed."""
        index = self.query_one(OptionList).highlighted
        matches = self._completion.matches
        if index is None or index >= len(matches):
            return None
        typed = self.query_one(Field).value
        return matches[index] if matches[index].lower().startswith(typed.lower()) else None

    def _type(self, text: str) -> None:
        field = self.query_one(Field)
        field.value = text
        field.cursor_position = len(text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._accept(self._completion.matches[event.option_index])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._accept(self._chosen() or event.value)

    def offers(self, name: str) -> bool:
        """Return whether a file of this name is among the matches."""
        return True

    def named(self, text: str) -> tuple[Path, ...]:
        """Return the existing files that a typed path names; empty when there are none."""
        return parse_drop(text, relative=True)

    def _accept(self, text: str) -> None:
        if found := self.named(text):
            self.dismiss(found)
        elif text.endswith("/"):
            self._type(text)
        elif text.strip():
            self.query_one(".hint", Static).update(Content.styled(self.MISSING, "$failed"))

    def on_dropped(self, event: Dropped) -> None:
        self.dismiss(event.drop.files)
        if event.drop.problem is not None:
            cast(Workbench, self.app).show_problem(event.drop.problem)
