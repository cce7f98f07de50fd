"""Ways to a page of the open document: its table of contents, and small pictures of all pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from carrel.store.core.formatting import count
from carrel.store.core.problem import ProblemError
from carrel.store.documents.formatting import Heading, heading_at, pages_words
from carrel.store.documents.service import DocumentsService
from carrel.tui.dialogs.core.dialog import FILTER_KEY, Dialog, hint
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.filter import ListFilter
from carrel.tui.widgets.pages.picture import PagePicture
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable

TALL = 32
"""Rows of a window from which the pages are drawn larger."""
SMALL, LARGE = (10, 7), (18, 12)
"""Columns and rows of a page's picture."""
FRAME = 2
"""Cells of a tile's frame."""


class Contents(Dialog[int]):
    """A table of contents, beginning at the page that is shown. Returns a page."""

    DEFAULT_CSS = """
    Contents .dialog { width: 96; padding: 0 1; }
    Contents VirtualTable { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [FILTER_KEY]

    def __init__(self, headings: Sequence[Heading], page: int) -> None:
        super().__init__("Contents")
        self._headings = headings
        self._page = page

    def compose_content(self) -> ComposeResult:
        table = VirtualTable(Column("Title"), Column("Page", 6, right=True), classes="")
        table.styles.height = min(len(self._headings) + 1, max(self.app.size.height - 8, 4))
        yield table
        yield ListFilter()
        yield hint("enter goes to the page · / filters · esc closes")

    def on_mount(self) -> None:
        table = self.query_one(VirtualTable)
        table.show([_entry(str(at), heading) for at, heading in enumerate(self._headings)])
        table.point_at(str(heading_at(self._headings, self._page)))
        table.focus()

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        event.stop()
        self.dismiss(self._headings[int(event.key)].page)


def _entry(key: str, heading: Heading) -> Row:
    title = Content("  " * (heading.level - 1)).append(labels.line(heading.title))
    return Row(key, (title, labels.muted(count(heading.page + 1))))


class PageTile(PagePicture, can_focus=False):
    """A page as a small picture with its number."""

    DEFAULT_CSS = """
    PageTile {
        border: round $muted; border-title-align: center; scrollbar-size: 0 0;
        scrollbar-gutter: auto; align: center middle;
    }
    PageTile.-chosen {
        border: heavy $accent; border-title-color: $accent; border-title-style: bold;
    }
    PageTile.-none, PageTile.-waiting > * { visibility: hidden; }
    """

    @dataclass
    class Chosen(Message):
        """A page was clicked."""

        page: int

    page: int | None = None

    def on_click(self, event: events.Click) -> None:
        if self.page is not None:
            self.post_message(self.Chosen(self.page))


class Thumbnails(Dialog[int]):
    """A grid of pages as small pictures, drawn as they come into view. Returns a page."""

    DEFAULT_CSS = """
    Thumbnails .dialog { width: 94%; height: 92%; padding: 0 1; }
    Thumbnails Container { layout: grid; height: 1fr; overflow: hidden hidden; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "Open page", id="thumbnails.open"),
        Binding("left,h", "step(-1)", "Page before", show=False, id="thumbnails.before"),
        Binding("right,l", "step(1)", "Next page", show=False, id="thumbnails.after"),
        Binding("up,k", "row(-1)", "Up", show=False, id="thumbnails.up"),
        Binding("down,j", "row(1)", "Down", show=False, id="thumbnails.down"),
        Binding("pageup", "screenful(-1)", "Page up", show=False, id="thumbnails.screen_up"),
        Binding("pagedown", "screenful(1)", "Page down", show=False, id="thumbnails.screen_down"),
        Binding("home,g", "end(-1)", "First", show=False, id="thumbnails.first"),
        Binding("end,G", "end(1)", "Last", show=False, id="thumbnails.last"),
    ]

    def __init__(self, documents: DocumentsService) -> None:
        super().__init__("Pages")
        state = documents.slice.value
        self._documents = documents
        self._count = state.page_count or 1
        self._current = self._chosen = state.current
        self._first = 0
        self._across = self._down = 1

    def compose_content(self) -> ComposeResult:
        yield Container()
        yield hint("arrows choose · enter goes to the page · esc closes")

    def on_resize(self) -> None:
        # The container has its new size only after a refresh.
        self.call_after_refresh(self._lay_out)

    async def _lay_out(self) -> None:
        """Make as many tiles as there is room for."""
        grid = self.query_one(Container)
        width, height = grid.size
        self._tile = LARGE if self.size.height >= TALL else SMALL
        self._across = max(width // (self._tile[0] + FRAME), 1)
        self._down = max(height // (self._tile[1] + FRAME), 1)
        grid.styles.grid_size_columns = self._across
        grid.styles.grid_rows = str(self._tile[1] + FRAME)
        async with self.batch():
            await grid.remove_children()
            await grid.mount(*(PageTile(classes="") for _ in range(self._across * self._down)))
        self._choose(self._chosen)

    def _choose(self, page: int) -> None:
        """Choose a page, and scroll to its row."""
        self._chosen = min(max(page, 0), self._count - 1)
        row, first = self._chosen // self._across, self._first // self._across
        last = max(math.ceil(self._count / self._across) - self._down, 0)
        first = min(max(first, row - self._down + 1), row, last)
        self._first = first * self._across
        tiles = [*self.query(PageTile)]
        for at, tile in enumerate(tiles, self._first):
            tile.set_class(at == self._chosen, "-chosen")
            tile.set_class(at >= self._count, "-none")
        end = min(self._first + len(tiles), self._count)
        title = pages_words(self._first, end, self._count)
        self.query_one(".dialog").border_title = labels.title(title)
        self._draw()

    @work(exclusive=True, group="tiles", exit_on_error=False)
    async def _draw(self) -> None:
        """Draw the tiles that show another page than before."""
        tiles = [*self.query(PageTile)]
        stale = [
            (page, tile)
            for page, tile in enumerate(tiles, self._first)
            if page < self._count and tile.page != page
        ]
        for page, tile in stale:
            mark = "▸" if page == self._current else ""
            tile.page, tile.border_title = None, f"{mark}{count(page + 1)}"
            tile.add_class("-waiting")
        columns = self._tile[0]
        for page, tile in stale:
            try:
                png = await self._documents.picture(page, tile.pixels(columns)).linked()
            except ProblemError:
                continue
            await tile.show(png, max(min(tile.columns_of_whole(png), columns), 1))
            tile.page = page
            tile.remove_class("-waiting")

    def action_accept(self) -> None:
        self.dismiss(self._chosen)

    def action_step(self, by: int) -> None:
        self._choose(self._chosen + by)

    def action_row(self, by: int) -> None:
        if 0 <= (page := self._chosen + by * self._across) < self._count:
            self._choose(page)

    def action_screenful(self, by: int) -> None:
        self._choose(self._chosen + by * self._across * self._down)

    def action_end(self, end: int) -> None:
        self._choose(0 if end < 0 else self._count - 1)

    def on_mouse_scroll_down(self) -> None:
        self.action_row(1)

    def on_mouse_scroll_up(self) -> None:
        self.action_row(-1)

    def on_page_tile_chosen(self, event: PageTile.Chosen) -> None:
        self.dismiss(event.page)
