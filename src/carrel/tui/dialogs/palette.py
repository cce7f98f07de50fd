"""The palette: a search over all actions and all named items."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.fuzzy import Matcher
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from carrel.store.finder import FinderService, FoundItem
from carrel.tui.dialogs.core.dialog import Dialog
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Field

MATCH = Style(bold=True, underline=True)
"""Style of the matched letters."""
PAUSE = 0.2
"""Debounce in seconds before the service is searched."""
ACTIONS = ">"
"""Prefix that limits the search to actions."""


@dataclass(frozen=True)
class Command:
    """An action: its label, its key, and the function that runs it.

    `preview` shows its effect while it is highlighted; `kind` is the type of an item.
    """

    words: str
    key: str
    run: Callable[[], Awaitable[object] | object]
    preview: Callable[[], object] | None = None
    kind: str = ""


class Palette(Dialog[Command]):
    """Finds actions by some of their letters, and items by a part of their names."""

    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette .dialog { margin-top: 3; padding: 0 1; }
    Palette OptionList { height: 14; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True, id="palette.down"),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="palette.up"),
    ]

    def __init__(
        self,
        commands: Sequence[Command],
        finder: FinderService,
        open: Callable[[FoundItem], object],
        unpreview: Callable[[], object],
    ) -> None:
        """Make the palette. `open` opens a found item; `unpreview` ends a preview."""
        super().__init__("Go to, or do")
        self._commands = commands
        self._finder = finder
        self._open = open
        self._unpreview = unpreview
        self._shown: list[Command] = []
        self._timer: Timer | None = None

    def compose_content(self) -> ComposeResult:
        yield Field(placeholder="A name or an action; > for actions alone")
        options = OptionList()
        options.can_focus = False
        yield options

    def on_mount(self) -> None:
        self.follow(self._finder.slice, lambda _: self._list(), hz=10)

    def on_unmount(self) -> None:
        self._finder.find("")

    @property
    def _typed(self) -> str:
        return self.query_one(Field).value

    def on_input_changed(self, event: Input.Changed) -> None:
        self._unpreview()
        self._list(reset=True)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, self._search)

    def _search(self) -> None:
        # Not returned: Textual would wait for the service here without handling keys.
        self._finder.find("" if self._typed.startswith(ACTIONS) else self._typed)

    def _list(self, *, reset: bool = False) -> None:
        typed = self._typed.removeprefix(ACTIONS).strip()
        matcher = Matcher(typed, match_style=MATCH)
        commands = list(self._commands)
        if typed:
            scores = {command: matcher.match(command.words) for command in self._commands}
            commands.sort(key=lambda command: -scores[command])
            commands = [command for command in commands if scores[command] > 0]
        if not self._typed.startswith(ACTIONS):
            commands += [self._command(found) for found in self._finder.slice.value.found if typed]
        options = self.query_one(OptionList)
        at = 0 if reset else options.highlighted or 0
        self._shown = commands
        options.clear_options()
        width = max(options.size.width - 4, 56)
        options.add_options(
            [Option(_option(command, matcher if typed else None, width)) for command in commands]
        )
        options.highlighted = min(at, len(commands) - 1) if commands else None
        self.query_one(".dialog").border_subtitle = self._subtitle()

    def _command(self, found: FoundItem) -> Command:
        details = " · ".join(filter(None, (found.details, found.kind)))
        return Command(found.name, "", lambda: self._open(found), kind=details)

    def _subtitle(self) -> Content:
        state = self._finder.slice.value
        if state.searching:
            return Content.styled("searching …", "$busy")
        if state.error is not None:
            return labels.line(f"✕ {state.error.title}", "$failed")
        return labels.muted("" if self._shown else "nothing found")

    def action_move(self, step: int) -> None:
        super().action_move(step)
        command = self._command_under_cursor()
        if command is not None and command.preview is not None:
            command.preview()
        else:
            self._unpreview()

    def _command_under_cursor(self) -> Command | None:
        index = self.query_one(OptionList).highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if (command := self._command_under_cursor()) is not None:
            self.dismiss(command)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])


def _option(command: Command, matcher: Matcher | None, width: int) -> Content:
    words = labels.line(command.words)
    if matcher is not None and not command.kind:
        words = matcher.highlight(command.words)
    right = labels.line(command.kind or command.key, "$muted")
    words = words.truncate(max(width - right.cell_length - 2, 10), ellipsis=True)
    gap = max(width - words.cell_length - right.cell_length, 1)
    return Content.assemble(words, " " * gap, right)
