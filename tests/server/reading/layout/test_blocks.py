"""Regions of a page that are decided by the page alone."""

import pytest

from carrel.server.reading.layout import blocks
from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame, Region, Word
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.page.table import Table
from carrel.server.reading.tables.decode import PageReading

WIDTH, HEIGHT = 595.0, 842.0


def line(text: str, top: float, left: float = 125.0) -> Line:
    return Line(text, Box(left, top, left + 5 * len(text), top + 10), 10)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("3", "footer"),
        ("– 12 –", "footer"),
        ("xiv", "footer"),
        pytest.param(
            *("see page 3", "paragraph"),
            marks=pytest.mark.xfail(
                reason="the page model takes a short last line for a page number"
            ),
        ),
    ],
)
def test_a_page_number_farther_from_the_edge_is_a_footer(text: str, kind: str) -> None:
    body = [line("A line of a paragraph, as wide as the text of the page is.", 120 + 12 * number)
            for number in range(30)]  # fmt: skip
    number = line(text, 0.884 * HEIGHT, left=295)
    page = page_layout(PageParts(PageFrame(WIDTH, HEIGHT), lines=[*body, number]))
    assert (page.regions[-1].text, page.regions[-1].kind) == (text, kind)


@pytest.mark.xfail(reason="the page model takes three narrow columns of short lines for a table")
def test_a_footer_below_the_middle_column_comes_last() -> None:
    columns = [
        line(f"{column} goes on for all of its lines", 300 + 12 * number, left=60 + 170 * column)
        for column in range(3)
        for number in range(8)
    ]
    wide = [
        line(
            "A line as wide as all three of the columns below it are with their gutters, it is",
            200,
            60,
        )
    ]
    footer = line("Annual report", 0.95 * HEIGHT, left=235)
    page = page_layout(PageParts(PageFrame(WIDTH, HEIGHT), lines=[*wide, *columns, footer]))
    assert [region.text[:6] for region in page.regions] == [
        *("A line", "0 goes", "1 goes", "2 goes", "Annual"),
    ]
    assert page.regions[-1].kind == "footer"


def test_text_within_a_table_that_is_in_none_of_its_cells_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["Room", "Seats", "Stairs", "North", "24"]
    lines = [line(text, 100 + 20 * number) for number, text in enumerate(texts)]

    def find_tables(page: PageReading, *_: object) -> list[Region]:
        held = tuple(piece for piece in page.pieces if piece.text != texts[2])
        box = Box.around(piece.box for piece in held)
        table = Table.of_rows([texts[:2], texts[3:]])
        return [Region("table", box, table=table, lines=held)]

    monkeypatch.setattr(blocks, "find_tables", find_tables)
    page = page_layout(PageParts(PageFrame(WIDTH, HEIGHT), lines=lines))
    assert [region.text for region in page.regions if region.kind != "table"] == [texts[2]]


@pytest.mark.parametrize(("empty", "kinds"), [(1, ["table", "figure"]), (4, ["figure", "aside"])])
def test_a_mostly_empty_table_in_a_picture_is_of_a_screen(
    monkeypatch: pytest.MonkeyPatch, empty: int, kinds: list[str]
) -> None:
    rows = [["Case", "Version"], ["Start gate", "1"], ["Stop gate", "1"]]
    read = [
        line(text, 200 + 20 * row, 150 + 150 * column)._replace(read=(Word(text, 0.9),))
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]

    def find_tables(page: PageReading, *_: object) -> list[Region]:
        held = tuple(piece for piece in page.pieces if piece.read)
        table = Table.of_rows([*rows, *[[""]] * empty])
        return [Region("table", Box.around(piece.box for piece in held), table=table, lines=held)]

    monkeypatch.setattr(blocks, "find_tables", find_tables)
    written = TextItem("Save", 90, 400, 20, 10, 0, "", 10, [PlacedWord("Save", 90, 400, 20, 10)])
    found = PageParts(PageFrame(WIDTH, HEIGHT), [written], read, figures=[Box(140, 190, 420, 280)])
    regions = page_layout(found).regions
    assert [region.kind for region in regions if region.text != "Save"] == kinds


@pytest.mark.parametrize(("structure", "kinds"), [(0.995, ["table"]), (0.9, ["figure", "aside"])])
def test_a_table_of_hardly_any_text_is_a_drawing_unless_rules_frame_its_cells(
    monkeypatch: pytest.MonkeyPatch, structure: float, kinds: list[str]
) -> None:
    texts = ["TX+", "BRN", "RJ-45", "GND"]
    labels = [line(text, 100 + 60 * number, 80 + 90 * number) for number, text in enumerate(texts)]

    def find_tables(page: PageReading, *_: object) -> list[Region]:
        rows = [["" for _ in range(5)] for _ in range(4)]
        for number, text in enumerate(texts):
            rows[number][number] = text
        held, table = tuple(page.pieces), Table.of_rows(rows)
        box = Box.around(piece.box for piece in held)
        return [Region("table", box, table=table, lines=held, structure=structure)]

    monkeypatch.setattr(blocks, "find_tables", find_tables)
    regions = page_layout(PageParts(PageFrame(WIDTH, HEIGHT), lines=labels)).regions
    assert [region.kind for region in regions] == kinds
