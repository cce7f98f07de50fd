"""The sides of a comparison: as many transcripts side by side as fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from carrel.store.comparison.state import MOST
from carrel.tui.theme import labels
from carrel.tui.widgets.chat.transcript import Transcript

TWO, FOUR = 100, 200
"""Window widths in columns from which two and four sides are visible."""


class Sides(Vertical):
    """Up to four transcripts. If not all fit, tabs above select the visible ones."""

    DEFAULT_CSS = """
    Sides { height: 1fr; }
    Sides #sides { height: 1fr; }
    Sides #tabs, Sides #judged { height: 1; padding: 0 1; display: none; }
    """

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        side: int

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.chosen = 0
        """Index of the side that is visible in any window."""
        self._count = 1
        self._tabs: Sequence[str] = ()
        self._ends: list[int] = []

    def compose(self) -> ComposeResult:
        yield Static(id="tabs")
        with Horizontal(id="sides"):
            yield Transcript(id="transcript")
            for number in range(1, MOST):
                yield Transcript(number, id=f"side-{number}")
        yield Static(id="judged")

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """All four transcripts, visible or not."""
        return tuple(self.query(Transcript))

    @property
    def current(self) -> Transcript:
        """The transcript that is visible in any window."""
        return self.transcripts[self.chosen]

    @property
    def seen(self) -> range:
        """The indexes of the visible sides."""
        width = self.app.size.width
        room = MOST if width >= FOUR else 2 if width >= TWO else 1
        first = max(0, min(self.chosen, self._count - room))
        return range(first, min(first + room, self._count))

    def show_sides(self, tabs: Sequence[str], judged: Content) -> None:
        """Show a side for each tab, and the votes in a line below."""
        self._count, self._tabs = len(tabs), tabs
        self.chosen = min(self.chosen, self._count - 1)
        self.query_one("#judged", Static).update(judged)
        self.query_one("#judged").display = self._count > 1
        self._show_seen()

    def choose(self, side: int) -> None:
        """Bring a side into view."""
        self.chosen = side % self._count
        self._show_seen()

    def on_resize(self) -> None:
        self._show_seen()

    def _show_seen(self) -> None:
        seen = self.seen
        for place, transcript in enumerate(self.transcripts):
            transcript.display = place in seen
        tabs = self.query_one("#tabs", Static)
        tabs.display = len(seen) < self._count
        parts, self._ends = [], []
        for place, words in enumerate(self._tabs):
            style = "bold $accent" if place in seen else "$muted"
            parts.append(labels.line(words, style))
            self._ends.append(sum(part.cell_length + 3 for part in parts))
        hint = labels.muted("   alt+s Next side")
        tabs.update(Content.styled(" │ ", "$line").join(parts) + hint)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.query_one("#tabs"):
            side = sum(end <= event.x for end in self._ends)
            self.post_message(self.Chosen(min(side, self._count - 1)))
