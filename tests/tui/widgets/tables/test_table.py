from collections.abc import Sequence
from typing import overload

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from carrel.store.core.lists import NameFilter
from carrel.tui.widgets.tables.columns import Column, column_widths
from carrel.tui.widgets.tables.paging import PagedRows
from carrel.tui.widgets.tables.table import Row, VirtualTable


def row(number: int) -> Row:
    return Row(f"row-{number}", (Content(f"name {number}"), Content(str(number))))


class Many(Sequence[Row | None]):
    """A hundred thousand rows, made when they are asked for."""

    def __init__(self) -> None:
        self.asked: set[int] = set()

    def __len__(self) -> int:
        return 100_000

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row | None]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row | None]:
        assert isinstance(index, int)
        self.asked.add(index)
        return row(index)


@pytest.mark.parametrize(
    ("path", "width", "seen"),
    [
        ("guide/requests.md", 17, "guide/requests.md"),
        ("docs/guide/requests.md", 20, "…/guide/requests.md "),
        ("docs/guide/requests.md", 18, "…/requests.md     "),
        ("docs/guide/requests.md", 10, "requests.…"),
        ("a name without a folder", 11, "a name wit…"),
        ("文書/契約書.pdf", 12, "…/契約書.pdf"),
    ],
)
def test_of_a_path_the_file_stays_in_view(path: str, width: int, seen: str) -> None:
    assert Column("Document", paths=True).fit(Content(path), width).plain == seen


class TableApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.table = VirtualTable(Column("Name"), Column("Number", 8, right=True))
        self.moved: list[str | None] = []
        self.opened: list[str] = []
        self.wanted: list[int] = []
        self.opened_empty = 0

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), "muted": "#888888"}

    def compose(self) -> ComposeResult:
        yield self.table

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        self.moved.append(event.key)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self.opened.append(event.key)

    def on_virtual_table_opened_empty(self) -> None:
        self.opened_empty += 1

    def on_virtual_table_wanted(self, event: VirtualTable.Wanted) -> None:
        self.wanted.append(event.index)


def lines(app: TableApp) -> list[str]:
    strips = app.screen._compositor.render_strips(app.size)
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def test_only_the_rows_in_view_are_asked_for() -> None:
    app, rows = TableApp(), Many()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show(rows)
        await pilot.pause()
        assert lines(app)[1].startswith("▸ name 0")
        await pilot.press("G")
        await pilot.pause()
        assert lines(app)[11].startswith("▸ name 99999")
        assert len(rows.asked) < 100


async def test_the_keys_move_and_open() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show([row(n) for n in range(50)])
        app.table.focus()
        await pilot.press("j", "j", "down", "k", "enter", "ctrl+d", "pagedown", "g")
        await pilot.pause()
        assert app.moved[:5] == ["row-0", "row-1", "row-2", "row-3", "row-2"]
        assert app.moved[-1] == "row-0"
        assert app.opened == ["row-2"]


async def test_the_cursor_stays_on_its_row_when_rows_come_and_go() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show([row(n) for n in range(5)])
        await pilot.press("j", "j", "j")
        app.table.show([row(n) for n in (9, 8, 3, 4)])
        assert app.table.key == "row-3"
        app.table.show([row(9)])
        assert app.table.key == "row-9"
        app.table.show([])
        assert app.table.key is None


async def test_a_click_chooses_and_two_open() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show([row(n) for n in range(5)])
        await pilot.click(VirtualTable, offset=(5, 3))
        assert app.table.key == "row-2"
        await pilot.double_click(VirtualTable, offset=(5, 4))
        assert app.opened == ["row-3"]


async def test_a_page_that_is_not_here_is_asked_for() -> None:
    here = set(range(50))

    def rows() -> PagedRows:
        return PagedRows(lambda n: row(n) if n in here else None, 200)

    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show(rows())
        await pilot.pause()
        assert app.wanted == []
        await pilot.press("G")
        await pilot.pause()
        assert app.wanted[-1] == 189
        assert "…" in lines(app)[11]
        here.update(range(150, 200))
        app.table.show(rows())
        await pilot.pause()
        assert lines(app)[11].startswith("▸ name 199")


async def test_behind_a_filter_the_right_page_is_asked_for() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.filter(NameFilter(without=("name 1",)))
        app.table.show(PagedRows(lambda n: row(n) if n < 3 else None, 5))
        await pilot.pause()
        assert [line[2:8] for line in lines(app)[1:3]] == ["name 0", "name 2"]
        assert app.wanted[-1] == 3
        assert app.table.in_view == range(0, 4)


async def test_enter_in_an_empty_table_is_told() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert (app.opened, app.opened_empty) == ([], 1)


async def test_without_rows_it_says_what_belongs_there() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.show_message(Content("No files yet."), Content("▸ Upload a file  u"))
        await pilot.pause()
        assert any("No files yet." in line for line in lines(app))


@pytest.mark.parametrize("name", ["invoice [/final].pdf", "[bold]x", "{x}", "日本語" * 20, ""])
async def test_a_name_is_shown_as_it_is(name: str) -> None:
    app = TableApp()
    async with app.run_test(size=(40, 6)) as pilot:
        app.table.show([Row("x", (Content(name), Content("1")))])
        await pilot.pause()
        shown = lines(app)[1]
        assert name[:10] in shown
        assert all(
            sum(s.cell_length for s in strip) == 40
            for strip in app.screen._compositor.render_strips(app.size)
        )


def test_narrow_tables_drop_the_columns_of_the_highest_rank() -> None:
    columns = [Column("Name"), Column("Size", 8, rank=1), Column("Created", 10, rank=2)]
    assert column_widths(columns, 80, [0, 0, 0]) == [58, 8, 10]
    assert column_widths(columns, 33, [0, 0, 0]) == [23, 8, 0]
    assert column_widths(columns, 20, [0, 0, 0]) == [20, 0, 0]


@pytest.mark.parametrize(
    ("width", "needs", "widths"),
    [
        # Names are never spread over an empty screen.
        (200, [26, 5, 8, 40], [32, 8, 10, 40]),
        # A long name takes what the others do not need.
        (80, [50, 5, 8, 0], [56, 7, 8, 3]),
        (76, [50, 0, 8, 0], [56, 0, 10, 3]),
        # What has content is narrowed, and dropped only below the least width of the others.
        (80, [90, 6, 8, 60], [30, 6, 8, 30]),
        (60, [90, 6, 8, 60], [25, 6, 0, 25]),
        (46, [90, 6, 8, 60], [22, 0, 0, 22]),
        (80, [7, 4, 4, 60], [8, 6, 4, 56]),
    ],
)
def test_columns_are_as_wide_as_what_stands_in_them(
    width: int, needs: list[int], widths: list[int]
) -> None:
    columns = [
        Column("Name"),
        Column("Tokens", 8, rank=1),
        Column("Age", 10, rank=2),
        Column("Why"),
    ]
    assert column_widths(columns, width, needs) == widths


def test_columns_never_take_more_than_there_is() -> None:
    columns = [Column("a"), Column("b", 6, rank=3), Column("c"), Column("d", 9, rank=1)]
    for width in range(60, 200):
        for needs in ([0, 0, 0, 0], [90, 3, 90, 9], [5, 0, 70, 0]):
            widths = column_widths(columns, width, needs)
            shown = [each for each in widths if each]
            assert sum(shown) + 2 * (len(shown) - 1) <= width
