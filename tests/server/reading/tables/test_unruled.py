"""Tables that no rule frames: white space says what their cells are."""

from collections.abc import Sequence

import pytest

from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame, Region
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.table import Table
from support.layouts import laid_out

PITCH = 14.0
LETTER = 5.0


def _row(
    number: float, texts: Sequence[str], lefts: Sequence[float], *, mono: bool = False
) -> list[Line]:
    """Texts that begin at these places, on one line."""
    top = 100 + PITCH * number
    return [
        Line(text, Box(left, top, left + LETTER * len(text), top + 11), 10, mono=mono)
        for text, left in zip(texts, lefts, strict=True)
        if text
    ]


def find_tables(lines: Sequence[Line], rules: Sequence[Rule]) -> list[Region]:
    return [region for region in laid_out(lines, rules) if region.kind == "table"]


def _only(chunks: Sequence[Line], rules: Sequence[Rule] = ()) -> Table:
    (region,) = find_tables(chunks, rules)
    assert region.table is not None
    return region.table


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows()]


BODY = [["Oslo", "12", "3.5", "840"], ["Bergen", "9", "2.1", "615"], ["Narvik", "4", "0.7", "92"]]
LEFTS = [70.0, 160.0, 230.0, 300.0]


def _body(first: int, lefts: Sequence[float] = LEFTS) -> list[Line]:
    return [
        chunk for number, texts in enumerate(BODY, first) for chunk in _row(number, texts, lefts)
    ]


def test_a_head_over_several_columns_spans_them() -> None:
    heads = [
        *_row(0, ["Loans and returns", "Total"], [170.0, 300.0]),
        *_row(1, ["Place", "Books", "Days", "Visits"], LEFTS),
    ]
    underline = Rule(True, 100 + 12.5, 160, 265)
    table = _only([*heads, *_body(2)], [underline])
    (head,) = (cell for cell in table.cells if cell.text == "Loans and returns")
    assert (head.row, head.column, head.columns) == (0, 1, 2)
    assert _texts(table)[-3:] == BODY
    assert table.header_rows == 2


@pytest.mark.parametrize("sign", ["$", "€", "£"])
@pytest.mark.xfail(reason="the page model takes part of a table of three rows for text")
def test_a_sign_of_currency_that_stands_in_line_belongs_to_its_number(sign: str) -> None:
    lefts = [70.0, 150.0, 166.0, 240.0]
    rows = [
        ["Rent", sign, "1,200", "yes"],
        ["Light", sign, "85", "no"],
        ["Water", sign, "40", "no"],
    ]
    chunks = [chunk for number, texts in enumerate(rows) for chunk in _row(number, texts, lefts)]
    assert _texts(_only(chunks)) == [[a, f"{b} {c}", d] for a, b, c, d in rows]


@pytest.mark.xfail(reason="the page model joins two tables side by side")
def test_tables_in_independent_columns_stay_apart() -> None:
    """On a reference card, lines to the left and right of the gutter are not level."""
    left = [chunk for first in (0, 5, 10) for chunk in _body(first)]
    left += [chunk for number in (3, 8, 13) for chunk in _row(number, ["A title"], LEFTS[:1])]
    right = [
        chunk._replace(box=Box(box.left + 330, 1.1 * box.top, box.right + 330, 1.1 * box.top + 11))
        for chunk in left
        for box in [chunk.box]
    ]
    found = find_tables([*left, *right], ())
    assert {region.box.left for region in found} == {70, 400}
    assert all(region.box.right < 400 for region in found if region.box.left == 70)


@pytest.mark.xfail(reason="the page model takes names with leaders for a list of contents")
def test_dots_that_lead_to_several_numbers_are_left_out() -> None:
    rows = [[f"{name} . . . . . . .", first, second] for name, first, second, _ in BODY]
    chunks = [
        chunk
        for number, texts in enumerate(rows)
        for chunk in _row(number, texts, [70.0, 230.0, 300.0])
    ]
    assert _texts(_only(chunks)) == [row[:3] for row in BODY]


def test_dots_that_lead_to_one_number_are_a_list_of_contents() -> None:
    rows = [[f"{name} . . . . . . .", page] for name, page, *_ in BODY]
    chunks = [
        chunk for number, texts in enumerate(rows) for chunk in _row(number, texts, [70.0, 230.0])
    ]
    assert find_tables(chunks, []) == []


CODE = [
    ["for", "shelf", "in", "room:"],
    ["if", "shelf", "is", "full:"],
    ["move", "it", "on", "now"],
]


@pytest.mark.parametrize(("rows", "tables"), [(BODY, 1), (CODE, 0)])
def test_letters_of_one_width_make_a_table_of_numbers_and_none_of_code(
    rows: Sequence[Sequence[str]], tables: int
) -> None:
    chunks = [
        chunk
        for number, texts in enumerate(rows)
        for chunk in _row(number, texts, LEFTS, mono=True)
    ]
    assert len(find_tables(chunks, [])) == tables


def test_signs_of_symbol_fonts_before_lines_are_a_list() -> None:
    lines = [_row(n, ["\uf0fc", f"Point {n} of a plan"], [70, 90]) for n in range(4)]
    assert not find_tables([chunk for line in lines for chunk in line], ())


@pytest.mark.xfail(reason="the page model takes values and names of two charts for a table")
def test_values_of_the_axes_of_charts_are_no_table() -> None:
    lines = list[Line]()
    for axis in (85.0, 345.0):
        for number, value in enumerate(map(str, range(450, -51, -50))):
            lines += _row(number, [value], [axis - LETTER * len(value)])
        for place, series in ((1.8, "Spread of credits"), (2.8, "Yield of the bond")):
            lines += _row(place, [series], [axis + 60])
        months = ["Jan-08", "Jul-08", "Jan-09", "Jul-09"]
        lines += _row(11, months, [axis + 10 + 42 * place for place in range(4)])
    regions = page_layout(PageParts(PageFrame(595, 842), lines=lines)).regions
    assert "table" not in {region.kind for region in regions}
