"""A page's text in passages, with marks, drawn line by line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from carrel.store.core.diff import DiffLine
from carrel.store.documents.boxes import TextPassage
from carrel.store.documents.marks import MarkRole, TextMark, mark_text, runs
from carrel.text import clean_text
from carrel.tui.terminal.textual_private import steady
from carrel.tui.widgets.text.prose import Prose
from carrel.tui.widgets.text.selecting import extract_selection, make_selectable

BAR = 2
"""Columns before the text for the mark of the chosen passage."""
SIGNS = {"same": " ", "added": "+", "removed": "−"}


@dataclass(frozen=True)
class DrawnLine:
    """A drawn line, its block, and whether the chosen mark is in it."""

    strip: Strip
    block: int | None = None
    chosen: bool = False


_GAP = DrawnLine(Strip.blank(0))


@steady
class PageText(ScrollView, can_focus=True):
    """A pane with the text of one page."""

    # The lines are broken at the pane's width.
    DEFAULT_CSS = "PageText { overflow-x: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g", "scroll_home", "Top", show=False, id="text.top"),
        Binding("G", "scroll_end", "Bottom", show=False, id="text.bottom"),
    ]

    @dataclass
    class Pointed(Message):
        """A passage was clicked."""

        block: int

    class Resized(Message):
        """The pane's width changed: the text wraps differently."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self._lines: list[DrawnLine] = []
        self._block: int | None = None
        self._known: dict[tuple[object, ...], list[DrawnLine]] = {}
        self._sentence: tuple[Content, ...] = ()
        self._titles = "", ""
        self._warm = False

    # Content

    def show(
        self,
        passages: Sequence[TextPassage],
        marks: Sequence[TextMark],
        chosen: TextMark | None,
        block: int | None,
        *,
        raw: bool,
        warm: bool,
    ) -> None:
        """Show a page: its passages with marks, one block chosen, `warm` with heat."""
        self._warm = warm
        width = self._width()
        known, self._known = self._known, {}
        lines: list[DrawnLine] = []
        for passage in passages:
            text = mark_text(passage, marks, chosen)
            key = (text, passage.block, raw, warm, width, self.app.theme)
            drawn = known.get(key) or self._draw(text, passage.block, width, raw=raw)
            self._known[key] = drawn
            lines += [*drawn, _GAP]
        self._put(lines[:-1], block)

    def show_changes(self, changes: Iterable[DiffLine]) -> None:
        """Show a diff of old and new lines."""
        roles = self._colours()
        text = Text()
        for line in changes:
            style = roles.get(line.change, "")
            text.append(f"{SIGNS[line.change]} ", style)
            for span in line.spans:
                strong = "" if span.change == "same" else "bold underline"
                text.append(
                    clean_text(span.text), Style.parse(f"{style} {strong}".strip() or "none")
                )
            text.append("\n")
        self._put(self._lines_of(text, None, self._width(), carry=False), None)

    def show_text(self, text: str) -> None:
        """Show a text without changes."""
        self._put(self._lines_of(Text(clean_text(text)), None, self._width(), carry=False), None)

    def set_titles(self, above: Content, below: Content) -> None:
        """Show titles in the border; equal ones are not set: Textual would redraw the pane."""
        if (above.markup, below.markup) != self._titles:
            self._titles = above.markup, below.markup
            self.border_title, self.border_subtitle = above, below

    def show_message(self, *sentence: Content) -> None:
        """Show a sentence in place of a text."""
        self._put([], None)
        self._sentence = sentence

    def reveal(self, block: int | None, *, mark: bool = False) -> None:
        """Scroll the chosen mark, or a block, into view."""
        rows = [
            y
            for y, line in enumerate(self._lines)
            if (line.chosen if mark else line.block == block)
        ]
        if rows and (mark or block is not None):
            place = Region(0, rows[0], 1, rows[-1] - rows[0] + 1)
            self.scroll_to_region(place, animate=False, force=True)

    def _put(self, lines: list[DrawnLine], block: int | None) -> None:
        before = self._lines, self._block
        is_text = not self._sentence
        self._lines, self._block, self._sentence = lines, block, ()
        size = Size(self.scrollable_content_region.width, len(lines))
        if size != self.virtual_size or not is_text:
            self.virtual_size = size
            self.refresh()
            return
        for y, (was, line) in enumerate(zip(before[0], lines, strict=True)):
            if was is not line or (line.block == before[1]) != (line.block == block):
                self.refresh_line(y)

    # Drawing

    def _width(self) -> int:
        return max(self.scrollable_content_region.width - BAR - 1, 10)

    def _colours(self) -> Mapping[str, str]:
        variables = self.app.get_css_variables()
        roles = ("added", "removed", "doubtful", "match", "accent", "muted")
        return {role: variables.get(role, "") for role in roles if "#" in variables.get(role, "")}

    def _styles(self) -> Mapping[MarkRole | None, Style]:
        colours = self._colours()
        doubt = colours.get("doubtful", "")
        hot = f"underline bold {doubt} reverse" if self._warm else f"underline {doubt}"
        return {
            "doubtful": Style.parse(hot),
            "fair": Style.parse(f"underline {doubt}"),
            "corrected": Style.parse(f"bold {colours.get('accent', '')}"),
            "hit": Style.parse(f"bold {colours.get('match', '')} reverse"),
            "chosen": Style.parse(f"bold {colours.get('accent', '')} reverse"),
        }

    def _draw(self, text: str, block: int | None, width: int, *, raw: bool) -> list[DrawnLine]:
        dark = self.app.current_theme.dark
        drawn: RenderableType = Text(clean_text(text)) if raw else Prose(text, dark=dark)
        # A line of a table has cells that a mark must not cross.
        return self._lines_of(drawn, block, width, carry=not text.lstrip().startswith("|"))

    def _lines_of(
        self, drawn: RenderableType, block: int | None, width: int, *, carry: bool
    ) -> list[DrawnLine]:
        console = self.app.console
        options = console.options.update(width=width, height=None)
        styles = self._styles()
        lines: list[DrawnLine] = []
        role: MarkRole | None = None
        for row in console.render_lines(drawn, options, pad=False):
            segments: list[Segment] = []
            chosen = False
            role = role if carry else None
            for segment in row:
                for piece, is_now in runs(segment.text, role):
                    role = is_now
                    chosen = chosen or (role == "chosen" and bool(piece.strip()))
                    style = styles.get(role) if piece.strip() else None
                    own = segment.style or Style()
                    if piece:
                        segments.append(Segment(piece, own + style if style else own))
            lines.append(DrawnLine(Strip(segments), block, chosen))
        while lines and not lines[-1].strip.text.strip():
            lines.pop()
        while lines and not lines[0].strip.text.strip():
            lines.pop(0)
        return lines

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        style = self.visual_style
        if self._sentence:
            return self._draw_sentence(y, width)
        at = y + self.scroll_offset.y
        if at >= len(self._lines):
            return Strip.blank(width, style.rich_style)
        line = self._lines[at]
        here = line.block is not None and line.block == self._block
        bar = Content.styled("▌ " if here else "  ", "$accent").render_segments(style)
        strip = Strip([*bar, *line.strip.apply_style(Style())])
        drawn = strip.adjust_cell_length(width).apply_style(style.rich_style)
        return make_selectable(self, drawn, int(at))

    def text_select_all(self) -> None:
        """Do nothing: a click chooses a passage instead."""

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        bar = " " * BAR
        return extract_selection(
            selection, len(self._lines), lambda at: bar + self._lines[at].strip.text
        )

    def _draw_sentence(self, y: int, width: int) -> Strip:
        lines = [line for words in self._sentence for line in words.wrap(max(width - 2, 1))]
        words = lines[y] if y < len(lines) else Content("")
        padded = Content(" ").append(words).truncate(width, pad=True)
        return Strip(padded.render_segments(self.visual_style), width)

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= at < len(self._lines) and (block := self._lines[at].block) is not None:
            self.post_message(self.Pointed(block))
