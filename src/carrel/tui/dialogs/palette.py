"""The palette: every action by its words."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.fuzzy import Matcher
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from carrel.tui.dialogs.dialog import Dialog
from carrel.tui.widgets.fields import Field

MATCH = Style(bold=True, underline=True)
"""How the letters that were found are drawn."""


@dataclass(frozen=True)
class Command:
    """An action: its words, the key that does the same, and how it is run."""

    words: str
    key: str
    run: Callable[[], Awaitable[object] | object]


class Palette(Dialog[Command]):
    """Finds an action by some of its letters."""

    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette .dialog { margin-top: 3; padding: 0 1; }
    Palette OptionList { height: 14; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('down')", "Down", show=False, priority=True, id="palette.down"),
        Binding("up", "move('up')", "Up", show=False, priority=True, id="palette.up"),
    ]

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__("Actions")
        self._commands = commands
        self._shown: list[Command] = []

    def inside(self) -> ComposeResult:
        yield Field(placeholder="What to do")
        options = OptionList()
        options.can_focus = False
        yield options

    def on_mount(self) -> None:
        self._filter("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, typed: str) -> None:
        matcher = Matcher(typed, match_style=MATCH)
        self._shown = list(self._commands)
        if typed:
            scores = {command: matcher.match(command.words) for command in self._commands}
            found = sorted(self._commands, key=lambda command: -scores[command])
            self._shown = [command for command in found if scores[command] > 0]
        options = self.query_one(OptionList)
        options.clear_options()
        width = max(options.size.width - 4, 56)
        for command in self._shown:
            words = matcher.highlight(command.words) if typed else Content(command.words)
            gap = max(width - words.cell_length - len(command.key), 1)
            options.add_option(Option(Content.assemble(words, " " * gap, (command.key, "$muted"))))
        options.highlighted = 0 if self._shown else None

    def action_move(self, direction: str) -> None:
        options = self.query_one(OptionList)
        if direction == "down":
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        index = self.query_one(OptionList).highlighted
        if index is not None and index < len(self._shown):
            self.dismiss(self._shown[index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])


def commands_of(screen: Screen[object]) -> list[Command]:
    """What the keys of a screen do now, each action once; moving about is left out."""
    commands: dict[tuple[str, str], Command] = {}
    app = screen.app
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id is None or binding.system or not active.enabled:
            continue
        if binding.id.startswith(("table.", "picture.", "app.palette", "place.")):
            continue
        commands.setdefault(
            (binding.action, binding.description),
            Command(
                binding.description,
                app.get_key_display(binding),
                partial(app.run_action, binding.action, active.node),
            ),
        )
    return list(commands.values())
