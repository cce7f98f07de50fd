"""Tables decoded from what the page model says about pieces and their neighbours."""

from collections.abc import Sequence

import numpy as np
import pytest

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED, PageView
from carrel.server.reading.tables.decode import PageReading, decode_table, table_pieces
from carrel.server.reading.tables.find import find_tables

RIGHT, LEFT, BELOW, ABOVE = range(4)


def page(grid: Sequence[Sequence[tuple[str, float, float]]]) -> tuple[list[Line], PageView]:
    """Rows of pieces with their left and right edges; those beside each other share a row."""
    pieces = [
        Line(text, Box(left, 20.0 * row, right, 20.0 * row + 10), 10)
        for row, cells in enumerate(grid)
        for text, left, right in cells
    ]
    count = len(pieces)
    neighbours = np.full((4, count), count)
    shared = np.zeros((4, count, len(SHARED)))
    shared[:, :, SHARED.index("table")] = 1
    shared[RIGHT : LEFT + 1, :, SHARED.index("row")] = 1
    number = 0
    for cells in grid:
        for place in range(len(cells) - 1):
            neighbours[RIGHT, number + place] = number + place + 1
            neighbours[LEFT, number + place + 1] = number + place
        number += len(cells)
    roles, flags = np.zeros((count, len(ROLES))), np.zeros((count, len(FLAGS)))
    return pieces, PageView(roles, flags, shared, neighbours)


def share(view: PageView, what: str, upper: int, lower: int, chance: float) -> None:
    """Make two pieces neighbours above each other that share something."""
    view.neighbours[BELOW, upper], view.neighbours[ABOVE, lower] = lower, upper
    view.shared[BELOW, upper, SHARED.index(what)] = chance
    view.shared[ABOVE, lower, SHARED.index(what)] = chance


def rows(pieces: list[Line], view: PageView) -> list[list[str]]:
    table = decode_table(PageReading(pieces, view), range(len(pieces)), ())
    assert table is not None
    return [[cell.text for cell in row] for row in table.rows()]


def test_a_note_below_a_table_joins_no_columns() -> None:
    grid = [[("A", 0, 20), ("B", 40, 60)], [("C", 0, 20), ("D", 40, 60)], [("a note", 0, 60)]]
    pieces, view = page(grid)
    for upper, lower, chance in ((0, 2, 1.0), (1, 3, 1.0), (3, 4, 0.8), (2, 4, 0.9)):
        share(view, "column", upper, lower, chance)
    view.neighbours[ABOVE, 4] = 3
    assert rows(pieces, view)[:2] == [["A", "B"], ["C", "D"]]


def test_names_beside_rows_of_their_own_are_not_one_cell() -> None:
    grid = [[(name, 0, 20), (job, 40, 60), ("9", 80, 90)] for name, job in ("AX", "BY", "CZ")]
    pieces, view = page(grid)
    for first in (0, 3):
        for column in range(3):
            share(view, "column", first + column, first + 3 + column, 1.0)
        view.shared[BELOW, first, SHARED.index("cell")] = 0.99
    assert rows(pieces, view) == [["A", "X", "9"], ["B", "Y", "9"], ["C", "Z", "9"]]


YEARS = [[("N", 100, 110), ("%", 150, 160), ("N", 200, 210), ("%", 250, 260)]] * 3


@pytest.mark.parametrize("amount", ["520", "€ 99,17", "(5,347 )", "120,- €"])
def test_numbers_above_each_other_are_of_two_rows(amount: str) -> None:
    grid = [[("Cash", 0, 40), (amount, 60, 80), ("7", 100, 120)]]
    grid += [[("Bank", 0, 40), ("64", 60, 80), ("9", 100, 120)]]
    pieces, view = page(grid)
    for upper in range(3):
        share(view, "column", upper, upper + 3, 1.0)
        share(view, "row", upper, upper + 3, 0.6)
    assert rows(pieces, view) == [["Cash", amount, "7"], ["Bank", "64", "9"]]


def test_a_few_labels_of_a_drawing_are_no_table() -> None:
    pieces, view = page([[("A", 0, 8), ("B", 150, 158), ("C", 300, 308)]] * 3)
    view.roles[:, ROLES.index("cell")] = 1
    for upper in range(6):
        share(view, "table", upper, upper + 3, 1.0)
        share(view, "column", upper, upper + 3, 1.0)
    reading = PageReading(pieces, view)
    assert len(find_tables(reading, (), range(9), ())) == 1
    assert find_tables(reading, (), range(9), [Box(0, 0, 310, 60)]) == []


def spans(grid: Sequence[Sequence[tuple[str, float, float]]], rules: Sequence[Rule]) -> list[str]:
    """Return the texts of the rows, each cell as often as it has columns; the last two are body."""
    pieces, view = page(grid)
    body = sum(map(len, grid[-2:]))
    view.flags[:-body, FLAGS.index("head")] = 1
    for number, piece in enumerate(pieces):
        below = [n for n, box in enumerate(p.box for p in pieces) if box.top > piece.box.top]
        for lower in [n for n in below if pieces[n].box.shared_width(piece.box) > 0][:1]:
            share(view, "column", number, lower, 1.0)
    table = decode_table(PageReading(pieces, view), range(len(pieces)), rules)
    assert table is not None
    return [" ".join(cell.text or "-" for cell in row for _ in range(cell.columns))
            for row in table.rows()]  # fmt: skip


def test_a_head_spans_the_columns_it_is_centred_over() -> None:
    heads = [("2007", 120, 140), ("2006", 220, 240)]
    assert spans([heads, *YEARS], ())[:2] == ["2007 2007 2006 2006", "N % N %"]
    alone = [("2007", 95, 115), ("2006", 195, 215)]
    assert spans([alone, *YEARS], ())[:2] == ["2007 - 2006 -", "N % N %"]


def test_a_head_fills_the_field_that_rules_give_it() -> None:
    heads = [("2007", 95, 115), ("2006", 195, 215)]
    sides = [Rule(False, at, -5, 15) for at in (90, 180, 270)]
    columns = [Rule(False, at, 15, 75) for at in (130, 230)]
    level, end = Rule(True, 15, 90, 270), Rule(True, 75, 90, 270)
    wanted = ["2007 2007 2006 2006", "N % N %"]
    assert spans([heads, *YEARS], [*sides, level])[:2] == wanted
    assert spans([heads, *YEARS], [*sides, *columns, end])[:2] == wanted
    spanners = [Rule(True, 15, 95, 165), Rule(True, 15, 195, 265)]
    assert spans([heads, *YEARS], spanners)[:2] == wanted
    assert spans([heads, *YEARS], [end])[:2] == ["2007 - 2006 -", "N % N %"]


def test_a_column_of_currency_signs_is_one_with_its_numbers() -> None:
    grid = [[("2022", 120, 140), ("2021", 220, 240)]]
    total = [("Cash", 0, 40), ("$", 100, 105), ("7", 150, 160), ("$", 200, 205), ("9", 250, 260)]
    rest = [("Debt", 0, 40), ("5", 150, 160), ("3", 250, 260)]
    assert spans([*grid, total, rest], ()) == ["- 2022 2021", "Cash $ 7 $ 9", "Debt 5 3"]
    # In a scan, one may stand a little lower than the other.
    pieces, view = page([[("Fee", 0, 40), ("$", 100, 105), ("7", 150, 160)], rest[:2]])
    pieces[1] = pieces[1]._replace(box=Box(100, 2, 105, 12))
    share(view, "column", 0, 3, 1.0)
    share(view, "column", 2, 4, 1.0)
    assert rows(pieces, view) == [["Fee", "$ 7"], ["Debt", "5"]]


def test_rows_of_a_head_that_share_no_column_are_one() -> None:
    grid = [[("2007", 120, 140)], [("Country", 0, 40)], [("N", 100, 110), ("%", 150, 160)]]
    body = [("Oslo", 0, 30), ("9", 100, 110), ("3", 150, 160)]
    assert spans([*grid, body, body], ())[:2] == ["Country 2007 2007", "- N %"]


def test_a_wrapped_label_is_of_the_row_of_its_last_line() -> None:
    amounts = [(str(number), 60 + 40 * number, 80 + 40 * number) for number in range(4)]
    grid = [[("Cash", 0, 40), *amounts], [("Payments that are", 0, 40)]]
    pieces, view = page([*grid, [("based on shares", 0, 40), *amounts]])
    for number in range(4):
        share(view, "column", 1 + number, 7 + number, 1.0)
    for what in ("cell", "row", "column"):
        share(view, what, 5, 6, 1.0)
    share(view, "column", 0, 5, 1.0)
    label, texts = "Payments that are based on shares", [text for text, *_ in amounts]
    assert rows(pieces, view) == [["Cash", *texts], [label, *texts]]


def test_whatever_stands_among_the_cells_is_one_of_them() -> None:
    grid = [[(name, 0, 20), (job, 40, 60)] for name, job in ("AX", "BY", "CZ")]
    pieces, view = page([*grid, [("reaches beyond", 50, 90)], [("within that", 80, 85)]])
    # On the lines of the cells: the second is among them with the first only.
    pieces[6] = pieces[6]._replace(box=Box(50, 22, 68, 28))
    pieces[7] = pieces[7]._replace(box=Box(60, 23, 66, 27))
    view.roles[:6, ROLES.index("cell")] = 0.9
    for upper in range(4):
        share(view, "table", upper, upper + 2, 1.0)
    assert sorted(table_pieces(PageReading(pieces, view))[0]) == list(range(8))


def test_tables_beside_each_other_that_one_pair_joins_stay_apart() -> None:
    pieces, view = page([[("A", 0, 20), ("1", 40, 60), ("B", 200, 220), ("2", 240, 260)]] * 4)
    view.roles[:, ROLES.index("cell")] = 0.9
    for upper in range(12):
        share(view, "table", upper, upper + 4, 1.0)
    for row in range(4):
        chance = 1.0 if row == 0 else 0.01
        view.shared[RIGHT, 4 * row + 1, SHARED.index("table")] = chance
        view.shared[LEFT, 4 * row + 2, SHARED.index("table")] = chance
    found = table_pieces(PageReading(pieces, view))
    left = [number for number in range(16) if number % 4 < 2]
    assert [sorted(group) for group in found] == [left, sorted({*range(16)} - {*left})]


def test_a_table_in_the_frame_of_a_form_is_found_by_its_own_rules() -> None:
    form = [[(f"line {row} of a form", 5, 100)] for row in range(6)]
    head, body = [("Item", 5, 30), ("Number", 110, 140)], [("A", 5, 30), ("12", 110, 120)]
    pieces, view = page([*form, head, body])
    view.roles[6:, ROLES.index("cell")] = 1
    frame = [Rule(False, at, -5, 195) for at in (0, 300)]
    across = [Rule(True, at, 0, 300) for at in (-5, 115, 135, 195)]
    rules = [*frame, *across, Rule(False, 105, 115, 195)]
    (table,) = find_tables(PageReading(pieces, view), rules, range(len(pieces)), ())
    assert table.table is not None and table.structure == 0.995
    assert [cell.text for cell in table.table.cells] == ["Item", "Number", "A", "12"]


def test_boxes_below_each_other_with_other_columns_are_tables_of_their_own() -> None:
    items = [[("Item", 5, 30), ("Price", 210, 240)], [("Desk", 5, 30), ("1300", 210, 240)]]
    sums = [[("Base", 5, 30), ("Tax", 110, 140)], [("1300", 5, 30), ("254", 110, 140)]]
    pieces, view = page([*items, *sums])
    view.roles[:, ROLES.index("cell")] = 1
    frame = [Rule(False, at, -5, 75) for at in (0, 300)]
    across = [Rule(True, at, 0, 300) for at in (-5, 15, 35, 55, 75)]
    columns = [Rule(False, 200, -5, 35), Rule(False, 100, 35, 75)]
    reading = PageReading(pieces, view)
    found = find_tables(reading, [*frame, *across, *columns], range(len(pieces)), ())
    texts = [[cell.text for cell in region.table.cells] for region in found if region.table]
    assert texts == [["Item", "Price", "Desk", "1300"], ["Base", "Tax", "1300", "254"]]
    # Those that begin at a column above are of one table.
    shared = [*columns, Rule(False, 200, 35, 75)]
    assert len(find_tables(reading, [*frame, *across, *shared], range(len(pieces)), ())) == 1
    # So is a row of sums.
    row = [*frame, *across[:2], *across[3:], Rule(False, 200, -5, 55), Rule(False, 100, 55, 75)]
    (whole,) = find_tables(reading, row, range(len(pieces)), ())
    assert whole.table is not None and "254" in [cell.text for cell in whole.table.cells]
