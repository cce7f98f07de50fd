"""The diff of two versions, field by field: unified or side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from carrel.store.agents.formatting import FieldRow, gap_words, line_sign
from carrel.store.core.diff import DiffLine, Hunk, side_by_side
from carrel.tui.terminal.textual_private import steady
from carrel.tui.theme import labels

_ROLES: Mapping[str, str] = {
    "same": "$muted",
    "added": "$added",
    "removed": "$removed",
    "changed": "",
}
NAME_WIDTH = 14
"""Cells of a field's name."""
INDENT = 2
BETWEEN = " │ "


@dataclass
class Layout:
    """The lines as drawn, and the indexes of lines that begin a change."""

    lines: list[Content] = field(default_factory=list)
    changes: list[int] = field(default_factory=list)


def lay_out(rows: Iterable[FieldRow], width: int, split: bool) -> Layout:
    """Lay out everything in lines of at most `width` cells."""
    laid = Layout()
    for row in rows:
        if row.change != "same":
            laid.changes.append(len(laid.lines))
        laid.lines += _head(row, width)
        for number, hunk in enumerate(row.hunks):
            if number:
                laid.changes.append(len(laid.lines))
            if hunk.skipped:
                laid.lines.append(labels.line(" " * INDENT + gap_words(hunk.skipped), "$muted"))
            laid.lines += (_lay_out_split if split else _lay_out_unified)(hunk, width - INDENT)
    return laid


def _head(row: FieldRow, width: int) -> Iterator[Content]:
    name = " " * INDENT * row.depth + row.field
    style = "$muted" if row.change == "same" or row.depth else "bold"
    words = labels.line(row.words, _ROLES[row.change])
    yield from _hang(labels.line(f"{name:<{NAME_WIDTH}}  ", style), words, width)


def _lay_out_unified(hunk: Hunk, width: int) -> Iterator[Content]:
    for line in hunk.lines:
        for part in _line(line, width):
            yield Content(" " * INDENT) + part


def _lay_out_split(hunk: Hunk, width: int) -> Iterator[Content]:
    side = max((width - len(BETWEEN)) // 2, 8)
    for old, new in side_by_side(hunk.lines):
        left, right = (list(_line(line, side)) if line else [] for line in (old, new))
        for number in range(max(len(left), len(right))):
            parts = (each[number] if number < len(each) else Content("") for each in (left, right))
            shown = Content.styled(BETWEEN, "$line").join(
                part.truncate(side, pad=True) for part in parts
            )
            yield Content(" " * INDENT) + shown


def _line(line: DiffLine, width: int) -> Iterator[Content]:
    role = _ROLES[line.change]
    spans = (
        labels.line(span.text, role if span.change == "same" else f"bold underline {role}")
        for span in line.spans
    )
    sign = Content.styled(f"{line_sign(line.change)} ", role)
    yield from _hang(sign, Content("").join(spans), width)


def _hang(first: Content, rest: Content, width: int) -> Iterator[Content]:
    """Yield wrapped text with a hanging indent after `first`."""
    room = max(width - first.cell_length, 8)
    for number, part in enumerate(rest.wrap(room) or [Content("")]):
        yield (first if not number else Content(" " * first.cell_length)) + part


@steady
class DiffView(ScrollView, can_focus=True):
    """The changes of an agent, scrolled with the keys; [ and ] step through the changes."""

    DEFAULT_CSS = "DiffView { overflow-x: hidden; overflow-y: auto; padding: 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, id="diff.down"),
        Binding("k", "scroll_up", "Up", show=False, id="diff.up"),
        Binding("g", "scroll_home", "First", show=False, id="diff.first"),
        Binding("G", "scroll_end", "Last", show=False, id="diff.last"),
    ]

    split = var(False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[FieldRow] = ()
        self._laid = Layout()

    def show(self, rows: Sequence[FieldRow]) -> None:
        """Replace the shown changes."""
        if rows != self._rows:
            self._rows = rows
            self._lay_out()
            self.scroll_home(animate=False)

    def watch_split(self) -> None:
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        self._laid = lay_out(self._rows, width, self.split)
        self.virtual_size = Size(width, len(self._laid.lines))
        self.refresh()

    def go(self, step: int) -> None:
        """Scroll to the next or previous change."""
        here = round(self.scroll_offset.y)
        changes = self._laid.changes
        there = [y for y in changes if (y > here if step > 0 else y < here)]
        if there:
            self.scroll_to(y=there[0] if step > 0 else there[-1], animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_offset.y)
        if index >= len(self._laid.lines):
            return Strip.blank(width, self.visual_style.rich_style)
        line = self._laid.lines[index].truncate(width, pad=True)
        return Strip(line.render_segments(self.visual_style), width)
