"""Scrolling text with a search that needs no new layout."""

import re
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

FOUND = Style(reverse=True, bold=True)


class Findable(Widget):
    """A mixin for widgets that draw lines: highlights search hits in them."""

    _wanted: re.Pattern[str] | None = None

    def find(self, words: str) -> list[int]:
        """Highlight words, ignoring case, and return the numbers of lines with hits."""
        self._wanted = re.compile(re.escape(words), re.IGNORECASE) if words else None
        self.refresh()
        if self._wanted is None:
            return []
        lines = (super(Findable, self).render_line(y).text for y in range(self.size.height))
        return [y for y, line in enumerate(lines) if self._wanted.search(line)]

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        text = strip.text if self._wanted else ""
        parts: list[Strip] = []
        done = 0
        for found in self._wanted.finditer(text) if self._wanted else ():
            start, end = cell_len(text[: found.start()]), cell_len(text[: found.end()])
            marked = Segment.apply_style(strip.crop(start, end), post_style=FOUND)
            parts += [strip.crop(done, start), Strip(marked)]
            done = end
        return Strip.join([*parts, strip.crop(done)]) if parts else strip


class FindText(Findable, Static):
    """A widget with a text search."""

    DEFAULT_CSS = "FindText { height: auto; }"


class TextPane(VerticalScroll, can_focus=True):
    """A scrolling pane of text; keys step through lines with hits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, id="scroll.down"),
        Binding("k", "scroll_up", "Up", show=False, id="scroll.up"),
        Binding("g", "scroll_home", "Top", show=False, id="scroll.top"),
        Binding("G", "scroll_end", "Bottom", show=False, id="scroll.bottom"),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False, id="scroll.half_down"),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False, id="scroll.half_up"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._hits: list[tuple[Findable, int]] = []
        self._hit = 0

    def action_half(self, way: int) -> None:
        self.scroll_relative(y=way * max(self.size.height // 2, 1), animate=False)

    @property
    def finding(self) -> bool:
        """Whether a search has hits."""
        return bool(self._hits)

    def find(self, words: str) -> int:
        """Highlight words, scroll to the first hit, and return the number of lines with hits."""
        self._hits = [(part, y) for part in self.query(Findable) for y in part.find(words)]
        self._hit = -1
        self.go_to_hit(1)
        return len(self._hits)

    def go_to_hit(self, step: int) -> None:
        """Scroll to the next or previous line with a hit."""
        if not self._hits:
            return
        self._hit = (self._hit + step) % len(self._hits)
        part, line = self._hits[self._hit]
        offset = Offset(0, line)
        inside: Widget = part
        while inside is not self and isinstance(inside.parent, Widget):
            offset += inside.virtual_region.offset
            inside = inside.parent
        self.scroll_to_region(Region(0, offset.y, 1, 1), animate=False, center=True)


class Note(Widget):
    """A sentence in the middle of a pane."""

    DEFAULT_CSS = """
    Note { height: 1fr; content-align: center middle; text-align: center; padding: 1 2; }
    Note { link-style: none; link-color: $accent; }
    """

    def __init__(self, content: Content) -> None:
        super().__init__()
        self._content = content

    def render(self) -> Content:
        return self._content
