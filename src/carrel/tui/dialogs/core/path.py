"""The choice of files by path: typed with completion, pasted, or dropped."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.terminal.drops import parse_drop, parse_folder
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Dropped, Field
from carrel.tui.workbench import Workbench

MAX_SHOWN = 200
"""Most completions that are shown."""


@dataclass(frozen=True)
class PathKind:
    """A kind of path; `missing` is the message if there is none.

    `offers` filters file names for completion; `find` resolves a text to paths.
    """

    placeholder: str
    missing: str
    hint: str
    offers: Callable[[str], bool]
    find: Callable[[str], tuple[Path, ...]]


def find_folder(text: str) -> tuple[Path, ...]:
    """Return the existing folder of a path, or an empty tuple."""
    folder = parse_folder(text, relative=True)
    return () if folder is None else (folder,)


FILES = PathKind(
    "Path of a file, such as ~/Documents/invoice.pdf",
    "There is no file at this path.",
    "tab completes · ↑ ↓ choose · enter accepts · or drop a file here",
    offers=lambda name: True,
    find=partial(parse_drop, relative=True),
)
FOLDER = PathKind(
    "Path of a folder, such as ~/Documents/contracts",
    "There is no folder at this path.",
    "tab completes · ↑ ↓ choose · enter accepts · or drop a folder here",
    offers=lambda name: False,
    find=find_folder,
)


@dataclass(frozen=True)
class PathCompletion:
    """The completions of a typed path.

    `text` is the unambiguous completion; `matches` are whole paths in displayed order, folders
    first with a slash at the end.
    """

    text: str
    matches: tuple[str, ...]


def complete(typed: str, offers: Callable[[str], bool] = lambda name: True) -> PathCompletion:
    """Complete a path from its folder. Hidden names match only a typed dot.

    `offers` tells whether a file name may match.
    """
    folder, slash, start = typed.rpartition("/")
    try:
        place = Path(folder + slash or ".").expanduser()
        with os.scandir(place) as entries:
            names = sorted(
                (not entry.is_dir(), entry.name)
                for entry in entries
                if entry.name.lower().startswith(start.lower())
                and (start.startswith(".") or not entry.name.startswith("."))
                and entry.name.isprintable()
                and (entry.is_dir() or offers(entry.name))
            )
    except (OSError, RuntimeError, ValueError):
        return PathCompletion(typed, ())
    matches = [folder + slash + name + ("" if is_file else "/") for is_file, name in names]
    common = os.path.commonprefix(matches)  # noqa: RUF071  # by characters
    if len(common) < len(typed):
        # The matches differ from the input only in case, or there are none.
        common = matches[0] if len(matches) == 1 else typed
    return PathCompletion(common, tuple(matches[:MAX_SHOWN]))


class PathDialog(Dialog[tuple[Path, ...]]):
    """Returns existing paths. Tab completes; the arrows select a match."""

    DEFAULT_CSS = """
    PathDialog OptionList { height: 10; margin: 0 1; }
    PathDialog .dialog { width: 90; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", id="path.complete"),
        Binding("down", "move(1)", "Down", show=False, id="path.down"),
        Binding("up", "move(-1)", "Up", show=False, id="path.up"),
    ]

    def __init__(self, title: str, kind: PathKind = FILES) -> None:
        super().__init__(title)
        self._kind = kind
        self._completion = PathCompletion("", ())

    def compose_content(self) -> ComposeResult:
        yield Field(placeholder=self._kind.placeholder)
        matches = OptionList()
        matches.can_focus = False
        yield matches
        yield hint(self._kind.hint)

    def on_mount(self) -> None:
        self._look("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @work(exclusive=True, exit_on_error=False)
    async def _look(self, typed: str) -> None:
        self._completion = await asyncio.to_thread(complete, typed, self._kind.offers)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(
            Option(labels.line(match.rstrip("/").rpartition("/")[2] + "/" * match.endswith("/")))
            for match in self._completion.matches
        )

    async def action_complete(self) -> None:
        typed = self.query_one(Field).value
        certain = await asyncio.to_thread(complete, typed, self._kind.offers)
        self._type(self._match_under_cursor() or certain.text)

    def _match_under_cursor(self) -> str | None:
        """Return the match selected with the arrows, if it still fits the input."""
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
        self._accept(self._match_under_cursor() or event.value)

    def _accept(self, text: str) -> None:
        if found := self._kind.find(text):
            self.dismiss(found)
        elif text.endswith("/"):
            self._type(text)
        elif text.strip():
            self.refuse(self._kind.missing)

    def on_dropped(self, event: Dropped) -> None:
        self.dismiss(event.drop.files)
        if event.drop.problem is not None:
            cast(Workbench, self.app).show_problem(event.drop.problem)
