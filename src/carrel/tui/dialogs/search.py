"""A search over all libraries and chats."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from carrel.store.core.lists import TYPING_PAUSE
from carrel.store.search.formatting import group_hits, place_of, result_words
from carrel.store.search.service import FoundPassage, SearchService, SearchState
from carrel.tui.dialogs.core.dialog import Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.fields import Field

MOST_LINES = 8
"""Most lines of a passage."""


class Search(Dialog[FoundPassage]):
    """The found passages, grouped by library; returns the chosen one."""

    DEFAULT_CSS = """
    Search .dialog { width: 110; height: 92%; padding: 0 1; }
    Search OptionList { height: 1fr; padding: 0 1; }
    Search #said { height: auto; padding: 0 1; color: $muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Down", show=False, priority=True, id="search.down"),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="search.up"),
    ]

    def __init__(self, service: SearchService) -> None:
        super().__init__("Search libraries and chats")
        self._service = service
        self._timer: Timer | None = None
        self._shown: dict[str, FoundPassage] = {}

    def compose_content(self) -> ComposeResult:
        yield Field(placeholder="what to look for in all libraries and chats")
        options = OptionList()
        options.can_focus = False
        yield options
        yield Static(id="said")
        yield hint("↑ ↓ choose · enter opens · esc closes")

    def on_mount(self) -> None:
        self.follow(self._service.slice, self._show)
        self._look()

    def on_resize(self) -> None:
        self._show(self._service.slice.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(TYPING_PAUSE, self._look)

    def _look(self) -> None:
        # Not returned: Textual would wait for the service here without handling keys.
        query = self.query_one(Field).value.strip()
        if query != self._service.slice.value.query:
            self._service.search(query)

    def _show(self, state: SearchState) -> None:
        options = self.query_one(OptionList)
        at = options.highlighted
        lines = options.size.height // max(1, len(state.found)) - 1
        self._shown = {}
        options.clear_options()
        for title, hits in group_hits(state.found):
            options.add_option(Option(labels.line(title, "bold $accent"), disabled=True))
            for hit in hits:
                id = str(len(self._shown))
                self._shown[id] = hit
                options.add_option(Option(self._words(hit, lines), id=id))
        if self._shown:
            options.highlighted = at or 1
        self.query_one("#said", Static).update(_status(state))

    def _words(self, hit: FoundPassage, lines: int) -> Content:
        """Return the place of a hit, and as much of its sentence as fits."""
        width = max(self.query_one(OptionList).size.width - 6, 20)
        wrapped = labels.highlight(hit.passage).wrap(width)
        shown = wrapped[: max(2, min(lines, MOST_LINES))]
        if len(shown) < len(wrapped):
            shown[-1] = (shown[-1] + Content(" …")).truncate(width, ellipsis=True)
        rows = [labels.line(place_of(hit)), *(Content("  ") + line for line in shown)]
        return Content("\n").join(rows)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        option = self.query_one(OptionList).highlighted_option
        if event.value.strip() != self._service.slice.value.query:
            self._look()
        elif option is not None and option.id in self._shown:
            self.dismiss(self._shown[option.id])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown.get(event.option.id or ""))


def _status(state: SearchState) -> Content:
    """Return the searched places, or the reason for an empty result."""
    role = "$failed" if state.error else "$busy" if state.searching else ""
    return labels.line(result_words(state), role)
