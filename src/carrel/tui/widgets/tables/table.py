"""A table of any length: it draws only visible rows, and requests missing ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from carrel.store.core.lists import NameFilter
from carrel.store.layout.state import USUAL, TableLayout
from carrel.tui.terminal.textual_private import steady
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.columns import GAP, Column, column_widths, lay_out_columns
from carrel.tui.widgets.text.selecting import extract_selection, make_selectable

_MAX_CACHED = 1000
"""Number of drawn lines that are kept."""
_NONE = Content("")

NOTHING = (labels.muted("Nothing matches the filter."),)


@dataclass(frozen=True)
class Row:
    """A row: a key that is stable over updates, and a cell per column.

    `mark` replaces the cursor's mark on its left; `rest` fills the columns without a cell.
    """

    key: str
    cells: tuple[Content, ...]
    mark: Content | None = None
    rest: Content | None = None

    @property
    def text(self) -> str:
        """The row's text."""
        cells = self.cells if self.rest is None else (*self.cells, self.rest)
        return " ".join(cell.plain for cell in cells)

    def looks_like(self, other: "Row | None") -> bool:
        """Return whether two rows are drawn alike: equal text may differ in colour."""
        if other is None or (self.key, len(self.cells)) != (other.key, len(other.cells)):
            return False
        mine = (*self.cells, self.mark or _NONE, self.rest or _NONE)
        others = (*other.cells, other.mark or _NONE, other.rest or _NONE)
        return all(one.is_same(another) for one, another in zip(mine, others, strict=True))


@steady
class VirtualTable(ScrollView, can_focus=True):
    """A table over a sequence of rows, with None for missing rows.

    The cursor stays on its row (by key) when rows come and go.
    """

    DEFAULT_CSS = """
    VirtualTable {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", "table--cursor", "table--mark"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("home,g", "go(0)", "First", show=False, id="table.first"),
        Binding("end,G", "go(-1)", "Last", show=False, id="table.last"),
        Binding("pageup", "page(-1.0)", "Page up", show=False, id="table.page_up"),
        Binding("pagedown", "page(1.0)", "Page down", show=False, id="table.page_down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="table.half_up"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="table.half_down"),
        Binding("enter", "open", "Open", id="table.open"),
    ]

    cursor = var(0)

    @dataclass
    class TableMessage(Message):
        """An event of a table."""

        table: "VirtualTable"

        @property
        def control(self) -> "VirtualTable":
            return self.table

    @dataclass
    class Moved(TableMessage):
        """The cursor moved to another row; `key` is None if there is none."""

        key: str | None

    @dataclass
    class Opened(TableMessage):
        """A row was opened with enter or a double click."""

        key: str

    class OpenedEmpty(TableMessage):
        """Enter was pressed in a table without rows."""

    @dataclass
    class Wanted(TableMessage):
        """A missing row came into view; `index` counts filtered rows too."""

        index: int

    class Scrolled(TableMessage):
        """The visible rows changed."""

    @dataclass
    class HeaderClicked(TableMessage):
        """The title of a column was clicked."""

        column: Column

    @dataclass
    class EdgeDragged(TableMessage):
        """The edge of a column's title was dragged to `width` cells."""

        column: Column
        width: int

    def __init__(
        self, *columns: Column, id: str | None = None, header: bool = True, classes: str = "pane"
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.columns = columns
        self._layout = USUAL
        self._header = int(header)
        self._rows: Sequence[Row | None] = ()
        self._all: Sequence[Row | None] = ()
        self._filter = NameFilter()
        self._places: Sequence[int] = ()
        self._empty: tuple[Content, ...] = ()
        self._titles: dict[str, Content] = {}
        self._key: str | None = None
        self._anchor: str | None = None
        self._edge: tuple[Column, int] | None = None
        """The column with the last pressed edge, and its width minus the mouse's position then."""
        self._needs = [0] * len(columns)
        """Width in cells of the longest content of each column that was in view."""
        self._drawn_at = -1
        self._drawn: list[int] = []
        self._strips: dict[tuple[int, bool, bool], Strip] = {}
        self._seen: dict[int, Row | None] = {}
        """The last drawn rows by index."""

    @property
    def rows(self) -> Sequence[Row | None]:
        """The rows of the table."""
        return self._rows

    @property
    def key(self) -> str | None:
        """The key of the row under the cursor, or None."""
        return self._key

    def set_anchor(self) -> None:
        """Begin a range at the row under the cursor."""
        self._anchor = self._key

    def keys_from_anchor(self) -> list[str | None]:
        """Return the keys of the rows from the anchor to the cursor; None for missing rows."""
        start = self._find(self._anchor) if self._anchor is not None else self.cursor
        first, last = sorted((start, self.cursor))
        rows = (self._rows[index] for index in range(first, min(last + 1, len(self._rows))))
        return [None if row is None else row.key for row in rows]

    def lay_out(self, layout: TableLayout) -> None:
        """Apply a layout to the columns."""
        if layout != self._layout:
            self._layout = layout
            self._lay_out_again()

    @property
    def widths(self) -> Mapping[str, int]:
        """The width of each named column in cells; 0 for hidden ones."""
        drawn = zip(self.columns, self._widths_in(self._width), strict=True)
        return {column.name: width for column, width in drawn if column.name}

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _widths_in(self, width: int) -> list[int]:
        if self._drawn_at != width:
            self._drawn_at = width
            columns = lay_out_columns(self.columns, self._layout)
            fill = not self._header
            self._drawn = column_widths(columns, width - GAP, self._needs, fill=fill)
            if self._has_dropped():
                # Room for the column's sort arrow.
                self._drawn = column_widths(columns, width - GAP - 2, self._needs, fill=fill)
        return self._drawn

    def _has_dropped(self) -> bool:
        """Return whether a column with content is hidden for lack of room."""
        drawn = zip(self.columns, self._needs, self._drawn, strict=True)
        hidden = self._layout.hidden
        return any(
            need and not cells and column.name not in hidden for column, need, cells in drawn
        )

    def _lay_out_again(self) -> None:
        self._drawn_at = -1
        self._strips.clear()
        self.refresh()

    def _measure(self) -> None:
        """Compute the widths of the columns for all content seen so far."""
        needs = self._needs
        for row in (self._rows[index] for index in self.in_view):
            if row is not None:
                lengths = [cell.cell_length for cell in row.cells]
                needs = [*map(max, needs, lengths), *needs[len(lengths) :]]
        if needs != self._needs:
            self._needs = needs
            self._lay_out_again()

    @property
    def in_view(self) -> range:
        """The indexes of the visible rows."""
        first = int(self.scroll_offset.y)
        return range(first, min(first + self.size.height - self._header, len(self._rows)))

    def show(self, rows: Sequence[Row | None]) -> None:
        """Replace the rows, subject to the filter.

        Only changed lines are redrawn.
        """
        self._all, self._rows, self._places = rows, rows, range(len(rows))
        if self._filter:
            self._places = [
                place
                for place, row in enumerate(self._all)
                if row is None or self._filter.matches(row.text)
            ]
            self._rows = [rows[place] for place in self._places]
        now = ((index, self._rows[index]) for index in self.in_view)
        same = {index for index, row in now if row and row.looks_like(self._seen.get(index))}
        self._strips = {drawn: strip for drawn, strip in self._strips.items() if drawn[0] in same}
        self._resize_virtual()
        self.cursor = self._find(self._key)
        self._tell()
        self._ask()
        first = int(self.scroll_offset.y)
        changed = {*range(first, first + self.size.height - self._header)} - same
        if len(changed) == self.size.height - self._header:
            # The rows are new: widths of earlier rows do not count.
            self._needs = [0] * len(self.columns)
            self._lay_out_again()
        self._measure()
        for index in changed:
            self.refresh_line(index + self._header)

    @property
    def total(self) -> int:
        """The number of rows without the filter."""
        return len(self._all)

    def filter(self, wanted: NameFilter) -> None:
        """Show only the rows with text that passes."""
        if wanted != self._filter:
            self._filter = wanted
            self.show(self._all)

    def entitle(self, title: Content | None = None, below: str | None = None) -> None:
        """Set the title, or the subtitle at the lower border; redraw only changes."""
        words = None if below is None else Content(below)
        for name, now in (("border_title", title), ("border_subtitle", words)):
            if now is not None and not now.is_same(self._titles.get(name, _NONE)):
                self._titles[name] = now
                setattr(self, name, now)

    def show_message(self, *words: Content) -> None:
        """Set the text in the middle of a table without rows."""
        if words != self._empty:
            self._empty = words
            self.refresh()

    def point_at(self, key: str) -> None:
        """Move the cursor to the row with this key, if it is loaded."""
        index = self._find(key)
        if index < len(self._rows) and (row := self._rows[index]) and row.key == key:
            self.action_go(index)

    def _find(self, key: str | None) -> int:
        rows = self._rows
        near = min(self.cursor, max(len(rows) - 1, 0))
        if key is None or (near < len(rows) and (row := rows[near]) and row.key == key):
            return near
        return next((i for i, row in enumerate(rows) if row and row.key == key), near)

    def _tell(self) -> None:
        row = self._rows[self.cursor] if self.cursor < len(self._rows) else None
        key = row.key if row else None
        if key != self._key:
            self._key = key
            self.post_message(self.Moved(self, key))

    def _ask(self) -> None:
        for index in self.in_view:
            if self._rows[index] is None:
                self.post_message(self.Wanted(self, self._places[index]))
                return

    # Cursor

    def action_move(self, rows: int) -> None:
        self._put(self.cursor + rows)

    def action_page(self, pages: float) -> None:
        self._put(self.cursor + int(pages * max(self.size.height - self._header, 2)))

    def action_go(self, index: int) -> None:
        self._put(index if index >= 0 else len(self._rows) + index)

    def action_open(self) -> None:
        if self._key is not None:
            self.post_message(self.Opened(self, self._key))
        elif not self._rows:
            self.post_message(self.OpenedEmpty(self))

    def _put(self, index: int) -> None:
        self.cursor = max(0, min(index, len(self._rows) - 1))
        height = self.size.height - self._header
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)
        self._tell()

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_lines(old + self._header)
        self.refresh_lines(new + self._header)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._measure()
        self._ask()
        self.post_message(self.Scrolled(self))

    def on_click(self, event: events.Click) -> None:
        if self._edge is not None:
            return
        x, y = event.get_content_offset_capture(self)
        index = y - self._header + self.scroll_offset.y
        if y < self._header:
            self._click_header(x - GAP)
        elif index < len(self._rows):
            self._put(index)
            if event.chain == 2:
                self.action_open()

    def _click_header(self, x: int) -> None:
        column, past = self._column_at(x)
        if column is not None and not past and column.name and column.sorts:
            self.post_message(self.HeaderClicked(self, column))

    def _column_at(self, x: int) -> tuple[Column | None, bool]:
        """Return the column drawn at `x`, and whether `x` is in the gap right of it."""
        for column, width in zip(self.columns, self._widths_in(self._width), strict=True):
            if not width:
                continue
            if 0 <= x < width + GAP:
                return column, x >= width
            x -= width + GAP
        return None, False

    # Dragging the edge of a column's title

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = event.get_content_offset(self)
        column, past = (None, False) if at is None else self._column_at(at.x - GAP)
        on_edge = at is not None and at.y < self._header and past
        self._edge = None
        if on_edge and column is not None and column.name:
            self._edge = column, self.widths[column.name] - event.screen_x
            self.capture_mouse()
            self.screen.clear_selection()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._edge is not None and self.app.mouse_captured is self:
            column, beside = self._edge
            self.post_message(self.EdgeDragged(self, column, beside + event.screen_x))

    def on_mouse_up(self) -> None:
        if self._edge is not None:
            self.release_mouse()

    # Drawing

    def on_resize(self) -> None:
        self._strips.clear()
        self._resize_virtual()
        self._put(self.cursor)  # in view still, or for the first time
        self._measure()
        self._ask()
        self.post_message(self.Scrolled(self))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def _resize_virtual(self) -> None:
        self.virtual_size = Size(self._width, len(self._rows) + self._header)

    def watch_has_focus(self, _has_focus: bool) -> None:
        self._strips.clear()
        super().watch_has_focus(_has_focus)

    def render_line(self, y: int) -> Strip:
        width = self._width
        if not self._rows:
            return self._draw_empty(y, width, NOTHING if self._all else self._empty)
        line = y if y < self._header else y + int(self.scroll_offset.y)
        return make_selectable(self, self._draw_line(line, width), line)

    def text_select_all(self) -> None:
        """Do nothing: a double click opens a row instead."""

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        width = self._width
        lines = len(self._rows) + self._header
        return extract_selection(selection, lines, lambda line: self._draw_line(line, width).text)

    def _draw_line(self, line: int, width: int) -> Strip:
        """Return a line of the whole table; the first is the header."""
        if line < self._header:
            return self._draw_header(width)
        index = line - self._header
        if index >= len(self._rows):
            return Strip.blank(width, self.visual_style.rich_style)
        is_cursor = index == self.cursor
        cached = (index, is_cursor, self.has_focus)
        strip = self._strips.get(cached)
        if strip is None:
            if len(self._strips) >= _MAX_CACHED:
                self._strips.clear()
            strip = self._strips[cached] = self._draw_row(index, is_cursor, width)
        return strip

    def _draw_empty(self, y: int, width: int, empty: Sequence[Content]) -> Strip:
        lines = [line for words in empty for line in words.wrap(width) or [words]]
        at = y - max((self.size.height - len(lines)) // 2, 0)
        words = lines[at] if 0 <= at < len(lines) else Content("")
        centred = words.pad_left((width - words.cell_length) // 2).truncate(width, pad=True)
        return Strip(centred.render_segments(self.visual_style), width)

    def _draw_header(self, width: int) -> Strip:
        style = self.get_visual_style("table--header")
        columns = lay_out_columns(self.columns, self._layout)
        titles = tuple(Content(column.title) for column in columns)
        strip = self._draw(titles, Content(" " * GAP), style, width)
        if self._has_dropped():
            more = Strip(Content("…").render_segments(style), 1)
            return Strip.join([strip.crop(0, width - 1), more])
        return strip

    def _draw_row(self, index: int, is_cursor: bool, width: int) -> Strip:
        row = self._seen[index] = self._rows[index]
        style = self.get_visual_style("table--cursor") if is_cursor else self.visual_style
        if row is None:
            return self._draw((labels.muted("…"),), Content(" " * GAP), style, width)
        role = "$accent" if self.has_focus else "$muted"
        mark = row.mark or (Content.styled("▸", role) if is_cursor else Content(" "))
        return self._draw(row.cells, mark.truncate(GAP, pad=True), style, width, row.rest)

    def _draw(
        self,
        cells: Sequence[Content],
        mark: Content,
        style: Style,
        width: int,
        rest: Content | None = None,
    ) -> Strip:
        parts: list[Content] = []
        drawn = zip(self.columns, cells, self._widths_in(width), strict=False)
        for column, cell, cell_width in drawn:
            if cell_width:
                parts.append(column.fit(cell, cell_width))
        if rest is not None:
            parts.append(rest)
        content = mark + Content(" " * GAP).join(parts)
        content = content.truncate(width, ellipsis=True, pad=True)
        return Strip(content.render_segments(style), width)
