"""A chat's transcript: one widget per turn, several for a long or a growing one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from carrel.store.chat.formatting import TurnRow
from carrel.store.core.formatting import counted
from carrel.text import clean_text
from carrel.tui.widgets.text.pane import Note, TextPane
from carrel.tui.widgets.text.prose import MIN_TAIL, Prose, TypedText, settled_length
from carrel.tui.widgets.text.rendered import Rendered

MAX_TURNS = 200
MAX_TEXT = 600_000
"""Most turns, and characters, on screen at first; earlier ones are shown on request, for speed."""
TurnPlace = tuple[int, int]
"""The number of a chat, and a turn's place in it."""
LONG = 4 * MIN_TAIL
"""Number of characters above which a turn is drawn in parts, so that no part takes long."""


class TurnView(Vertical):
    """A turn in parts: final parts are drawn once."""

    DEFAULT_CSS = "TurnView { height: auto; }"

    def __init__(self, row: TurnRow, place: TurnPlace, *, dark: bool, live: bool) -> None:
        super().__init__()
        self.row = row
        self.live = live
        self._place = place
        self._dark = dark
        self._settled = 0
        self._head = Rendered(_head(row, place))
        self._tail = Rendered("")
        self._foot = Rendered(_foot(row, place))

    def compose(self) -> ComposeResult:
        yield self._head
        yield from self._take_final(self.row.text)
        yield self._tail
        yield self._foot

    def grow(self, row: TurnRow) -> None:
        """Show more of a growing answer."""
        if _parts_above(row) != _parts_above(self.row):
            self._head.update(_head(row, self._place))
        if _parts_below(row) != _parts_below(self.row):
            self._foot.update(_foot(row, self._place))
        self.row = row
        if parts := self._take_final(row.text):
            self.mount_all(parts, before=self._tail)

    def end(self, row: TurnRow) -> None:
        """Show the final answer."""
        self.live = False
        self.grow(row)

    def _take_final(self, text: str) -> list[Rendered]:
        """Return new parts that are final; the rest becomes the tail."""
        parts = []
        tail = text[self._settled :]
        # A complete text is cut into parts as a growing one.
        while cut := settled_length(tail[: 2 * MIN_TAIL]) or settled_length(tail):
            parts.append(Rendered(self._prose(tail[:cut])))
            self._settled += cut
            tail = tail[cut:]
        self._tail.update(self._prose(tail) if tail else "")
        return parts

    def _prose(self, text: str) -> RenderableType:
        return _prose(text, self._dark, self.row, self._place)


class Transcript(TextPane):
    """The turns of one session. It follows a growing answer until the user scrolls.

    A click on a source or a variant's mark runs the screen's `show_source` or `variant` with the
    chat's number first. At the top, `home` shows earlier turns of a long chat.
    """

    DEFAULT_CSS = "Transcript { padding: 0 1; }"

    def __init__(self, chat: int = 0, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self.chat = chat
        self._rows: list[TurnRow] = []
        self._first = 0
        self._shares = 1
        """How many times MAX_TURNS are on screen at most."""
        self._session: object = None
        self._found: tuple[int, int] | None = None
        self._sought: Widget | None = None
        """The turn that a search found, until it is scrolled to."""
        self._unfolded: set[int] = set()
        """Places of turns with visible thinking."""
        self._given: tuple[Sequence[TurnRow], bool] = ((), False)
        self._at_end = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._at_end = self.is_vertical_scroll_end

    def on_resize(self) -> None:
        # The text wraps anew, and its end is elsewhere.
        if self._at_end and self._sought is None:
            self.to_end()

    async def show_message(self, words: Content) -> None:
        """Show a sentence instead of turns."""
        self._rows, self._session = [], None
        async with self.batch():
            await self.remove_children()
            await self.mount(Note(words))

    async def show(
        self,
        session: object,
        rows: Sequence[TurnRow],
        *,
        writing: bool,
        found: tuple[int, int] | None = None,
    ) -> None:
        """Show the turns of a session; the last one grows while `writing`.

        A new search's `found` turn is scrolled to the top.
        """
        self._given = rows, writing
        if session != self._session:
            self._unfolded.clear()
            self._shares = 1
        sought = found if found != self._found and found and found[0] < len(rows) else None
        if sought is not None:
            while _first_shown(rows, self._shares) > sought[0]:
                self._shares += 1
        first = _first_shown(rows, self._shares)
        rows = [
            row if not row.thinking or place in self._unfolded else replace(row, thinking="")
            for place, row in enumerate(rows[first:], first)
        ]
        fresh = session != self._session or first != self._first or not self._rows
        follow = fresh or self.is_vertical_scroll_end
        same = 0 if fresh else _common(self._rows, rows)
        growing = self._growing_turn()
        if growing is not None and len(rows) == len(self._rows) and same >= len(rows) - 1:
            if writing:
                growing.grow(rows[-1])
            elif len(rows[-1].text) > LONG:
                growing.end(rows[-1])
            else:
                await self._replace(len(rows) - 1, rows, first, writing=False)
        elif fresh or not same == len(rows) == len(self._rows):
            await self._replace(same, rows, first, writing=writing)
        self._session, self._rows, self._first = session, rows, first
        self._found = found
        if sought is not None:
            self._sought = self.children[(1 if first else 0) + sought[0] - first]
            # Twice: a scroll to the end, which waits as long, may be under way.
            self.call_after_refresh(self.call_after_refresh, self._scroll_to_sought)
        elif follow and self._sought is None:
            self.to_end()

    def action_scroll_home(self) -> None:
        if self._first and self.scroll_y == 0:
            self.call_next(self.show_earlier)
        else:
            super().action_scroll_home()

    async def show_earlier(self) -> None:
        """Show MAX_TURNS more turns above those on screen, which stay where they are."""
        height = self.virtual_size.height
        self._shares += 1
        rows, writing = self._given
        await self.show(self._session, rows, writing=writing, found=self._found)
        self.call_after_refresh(
            lambda: self.scroll_to(y=self.virtual_size.height - height, animate=False)
        )

    def to_end(self) -> None:
        """Scroll to the end after the layout of new parts."""
        self.call_after_refresh(self.scroll_end, animate=False)

    def _scroll_to_sought(self) -> None:
        if self._sought is not None:
            self.scroll_to(y=self._sought.virtual_region.y, animate=False, immediate=True)
            self._sought = None

    async def fold(self, place: int | None = None) -> None:
        """Toggle the thinking of a turn; without `place`, of the last turn that has some."""
        rows, writing = self._given
        thinking = [at for at, row in enumerate(rows) if row.thinking]
        if thinking:
            self._unfolded ^= {thinking[-1] if place is None else place}
            await self.show(self._session, rows, writing=writing, found=self._found)

    def redraw(self) -> None:
        """Redraw everything at the next update, because the theme changed."""
        self._rows = []

    def _growing_turn(self) -> TurnView | None:
        last = self.children[-1] if self.children else None
        return last if isinstance(last, TurnView) and last.live else None

    async def _replace(self, same: int, rows: list[TurnRow], first: int, *, writing: bool) -> None:
        dark = self.app.current_theme.dark
        above = 1 if first else 0
        async with self.batch():
            if same:
                await self.remove_children(self.children[above + same :])
            else:
                await self.remove_children()
                if first:
                    await self.mount(Rendered(_omission(first, self.chat)))
            await self.mount_all(
                _turn(
                    row, (self.chat, first + place), dark, live=writing and place == len(rows) - 1
                )
                for place, row in enumerate(rows[same:], same)
            )


def _first_shown(rows: Sequence[TurnRow], shares: int) -> int:
    """Return the index of the first turn to show within so many times MAX_TURNS and MAX_TEXT."""
    room = MAX_TEXT * shares
    for place in range(len(rows) - 1, -1, -1):
        room -= len(rows[place].text)
        if len(rows) - place > MAX_TURNS * shares or (room < 0 and place < len(rows) - 1):
            return place + 1
    return 0


def _common(old: Sequence[TurnRow], new: Sequence[TurnRow]) -> int:
    """Return the number of equal turns at the beginning."""
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _turn(row: TurnRow, place: TurnPlace, dark: bool, *, live: bool) -> Widget:
    if live or len(row.text) > LONG:
        return TurnView(row, place, dark=dark, live=live)
    body = [_prose(row.text, dark, row, place)] if row.text else []
    return Rendered(Group(_head(row, place), *body, _foot(row, place)))


def _parts_above(row: TurnRow) -> tuple[object, ...]:
    """Return the parts above a turn's text."""
    return (row.figures, row.thought, row.thinking)


def _parts_below(row: TurnRow) -> tuple[object, ...]:
    """Return the parts below a turn's text."""
    return (row.note, row.sources, row.calls, row.attached)


def _prose(text: str, dark: bool, row: TurnRow, place: TurnPlace) -> RenderableType:
    """Return a part of a turn's text, in which clicks on citation numbers show their sources."""
    if row.typed:
        return Padding(TypedText(text), (0, 0, 0, 2))
    sources = {
        source.number: _click("show_source", *place, at) for at, source in enumerate(row.sources)
    }
    return Padding(Prose(text, dark=dark, sources=sources), (0, 0, 0, 2))


def _omission(turns: int, chat: int) -> Text:
    words = f"▸ {counted(turns, 'earlier turn')}: a click, or g at the top, shows more\n"
    omission = Text(words, style="carrel.muted")
    omission.stylize(_click("earlier", chat))
    return omission


def _head(row: TurnRow, place: TurnPlace) -> RenderableType:
    style = "carrel.you" if row.speaker == "You" else "carrel.agent"
    head = Text.assemble((clean_text(row.speaker), style))
    if row.variant:
        head.append("   ")
        head.append(f"{row.variant[0]} ", style=_click("variant", *place, -1))
        head.append(row.variant[1:-1], style="carrel.muted")
        head.append(f" {row.variant[-1]}", style=_click("variant", *place, 1))
    if row.figures:
        head.append(f"   {row.figures}", style="carrel.muted")
    if not row.thought:
        return head
    sign = "▾" if row.thinking else "▸"
    thought = Text(f"{sign} {row.thought}", style="carrel.muted")
    thought.stylize(_click("thinking", *place))
    parts: list[RenderableType] = [Padding(thought, (0, 0, 0, 2))]
    if row.thinking:
        words = Text(clean_text(row.thinking).strip(), style="carrel.muted")
        parts.append(Padding(words, (0, 0, 1, 4)))
    return Group(head, *parts)


def _foot(row: TurnRow, place: TurnPlace) -> RenderableType:
    parts: list[RenderableType] = []
    if row.attached:
        parts.append(Text("▣ " + clean_text("  ▣ ".join(row.attached)), style="carrel.muted"))
    parts += (Text(f"▸ calls {clean_text(call)}", style="carrel.source") for call in row.calls)
    if row.note:
        parts.append(Text(row.note, style="carrel.failed"))
    if row.sources:
        sources = Text(f"\n{row.sources_title}", style="carrel.muted")
        for number, source in enumerate(row.sources):
            style = Style(underline=source.cited) + _click("show_source", *place, number)
            sources.append("  ")
            sources.append(Text(clean_text(source.words), style="carrel.source", end=""))
            sources.stylize(style, len(sources) - len(clean_text(source.words)))
        parts.append(sources)
    parts.append(Text(""))
    return Padding(Group(*parts), (0, 0, 0, 2))


def _click(action: str, *arguments: int) -> Style:
    return Style(meta={"@click": f"screen.{action}({', '.join(map(str, arguments))})"})
