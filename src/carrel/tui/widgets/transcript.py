"""A chat as it is read: one widget for each turn, a few for the one that is being written."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.store.selectors.chat import TurnRow
from carrel.text import clean_text
from carrel.tui.widgets.note import Note
from carrel.tui.widgets.prose import Prose, settled

MAX_SHOWN = 200
"""Turns on screen; the earlier ones of a longer chat are left out, so that it stays quick."""


class Live(Vertical):
    """An answer that grows: what will not change any more is drawn once."""

    DEFAULT_CSS = """
    Live { height: auto; }
    Live Static { height: auto; }
    """

    def __init__(self, row: TurnRow, *, dark: bool) -> None:
        super().__init__()
        self.row = row
        self._dark = dark
        self._settled = 0
        self._tail = Static(self._prose(row.text))

    def compose(self) -> ComposeResult:
        yield Static(Group(_head(self.row)))
        yield self._tail

    def grow(self, row: TurnRow) -> None:
        """Shows more of the same answer."""
        self.row = row
        tail = row.text[self._settled :]
        cut = settled(tail)
        if cut:
            self.mount(Static(self._prose(tail[:cut])), before=self._tail)
            self._settled += cut
            tail = tail[cut:]
        self._tail.update(self._prose(tail) if tail else "")

    def _prose(self, text: str) -> RenderableType:
        return Padding(Prose(text, dark=self._dark), (0, 0, 0, 2))


class Transcript(VerticalScroll):
    """The turns of one session. It stays at the end while an answer grows, until one scrolls."""

    DEFAULT_CSS = """
    Transcript { padding: 0 1; }
    Transcript > Static { height: auto; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self._rows: list[TurnRow] = []
        self._session: object = None

    async def say(self, words: Content) -> None:
        """A sentence instead of turns."""
        self._rows, self._session = [], None
        async with self.batch():
            await self.remove_children()
            await self.mount(Note(words))

    async def show(self, session: object, rows: Sequence[TurnRow], *, writing: bool) -> None:
        """Shows the turns of a session; the last is growing while `writing`."""
        rows = list(rows[-MAX_SHOWN:])
        fresh = session != self._session
        follow = fresh or self.is_vertical_scroll_end
        same = 0 if fresh else _common(self._rows, rows)
        live = next(iter(self.query_children(Live)), None)
        if live is not None and writing and same == len(rows) - 1 == len(self._rows) - 1:
            live.grow(rows[-1])
        elif fresh or same < len(rows) or len(rows) < len(self._rows) or (live and not writing):
            if live is not None:
                # The answer has ended: it becomes one widget like the others.
                same = min(same, len(self._rows) - 1)
            await self._replace(0 if fresh else same, rows, writing)
        self._session, self._rows = session, rows
        if follow:
            self.to_end()

    def to_end(self) -> None:
        """Shows the end, once what was added has its place."""
        self.call_after_refresh(self.scroll_end, animate=False)

    async def _replace(self, first: int, rows: list[TurnRow], writing: bool) -> None:
        dark = self.app.current_theme.dark
        async with self.batch():
            await self.remove_children(self.children[first:] if first else "*")
            await self.mount_all(
                Live(row, dark=dark)
                if writing and index == len(rows) - 1
                else Static(_finished(row, dark=dark))
                for index, row in enumerate(rows[first:], first)
            )


def _common(old: Sequence[TurnRow], new: Sequence[TurnRow]) -> int:
    """How many turns at the beginning are the same."""
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before != after:
            return index
    return min(len(old), len(new))


def _head(row: TurnRow) -> Text:
    style = "carrel.you" if row.speaker == "You" else "carrel.agent"
    figures = f"   {row.figures}" if row.figures else ""
    return Text.assemble((clean_text(row.speaker), style), (figures, "carrel.muted"))


def _finished(row: TurnRow, *, dark: bool) -> Group:
    parts: list[RenderableType] = [_head(row)]
    if row.text:
        parts.append(Padding(Prose(row.text, dark=dark), (0, 0, 0, 2)))
    if row.note:
        parts.append(Text(f"  {row.note}", style="carrel.failed"))
    if row.sources:
        parts.append(Text(""))
        sources = Text("  Sources  ", style="carrel.muted")
        sources.append(
            clean_text("  ".join(source.words for source in row.sources)), style="carrel.source"
        )
        parts.append(sources)
    parts.append(Text(""))
    return Group(*parts)
