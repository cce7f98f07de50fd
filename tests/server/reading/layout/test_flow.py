"""Reading order, on boxes alone."""

from dataclasses import dataclass
from itertools import chain

from carrel.server.reading.layout.flow import columns, rows
from carrel.server.reading.page.elements import Box


@dataclass(frozen=True)
class Part:
    name: str
    box: Box


def _column(name: str, left: float, right: float, top: float, count: int) -> list[Part]:
    """Lines of 10 points, 12 apart."""
    return [
        Part(f"{name}{number}", Box(left, top + 12 * number, right, top + 12 * number + 10))
        for number in range(count)
    ]


def _order(parts: list[Part]) -> list[str]:
    # Which part comes first in the file says nothing.
    return [part.name for column in columns(parts[::-1]) for row in rows(column) for part in row]


def _names(*columns: list[Part]) -> list[str]:
    return [part.name for column in columns for part in column]


def test_nothing() -> None:
    assert columns([]) == []


def test_one_column() -> None:
    column = _column("a", 50, 550, 100, 30)
    assert _order(column) == _names(column)


def test_two_and_three_columns() -> None:
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 100, 30)
    assert _order(first + second) == _names(first, second)
    narrow = [
        _column(name, 50 + 180 * n, 210 + 180 * n, 103 + 4 * n, 20) for n, name in enumerate("abc")
    ]
    assert _order([*chain(*narrow)]) == _names(*narrow)


def test_columns_that_begin_and_end_at_different_heights() -> None:
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 160, 10)
    assert _order(first + second) == _names(first, second)


def test_a_title_above_and_a_note_below_both_columns() -> None:
    title, note = _column("t", 150, 450, 60, 1), _column("n", 50, 550, 500, 2)
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 106, 30)
    assert _order(first + second + title + note) == _names(title, first, second, note)


def test_a_heading_of_what_comes_next_is_not_the_end_of_the_first_column() -> None:
    first, second = _column("a", 50, 290, 100, 20), _column("b", 310, 550, 100, 20)
    heading, below = _column("h", 50, 150, 370, 1), _column("w", 50, 550, 384, 6)
    assert _order(first + second + heading + below) == _names(first, second, heading, below)


def test_the_last_line_above_columns_stays_with_its_paragraph() -> None:
    wide, last = _column("w", 50, 550, 100, 3), _column("l", 50, 250, 136, 1)
    first, second = _column("a", 50, 290, 170, 10), _column("b", 310, 550, 170, 10)
    above, *_ = columns([*wide, *last, *first, *second])
    assert [part.name for part in above] == ["w0", "w1", "w2", "l0"]


def test_columns_again_below_a_wide_part() -> None:
    upper = [_column("a", 50, 290, 100, 10), _column("b", 310, 550, 100, 10)]
    wide = _column("w", 50, 550, 240, 3)
    lower = [_column("c", 50, 290, 300, 10), _column("d", 310, 550, 300, 10)]
    assert _order([*chain(*upper, wide, *lower)]) == _names(*upper, wide, *lower)


def test_a_caption_beside_the_end_of_a_column_is_not_in_its_lines() -> None:
    text, caption = _column("t", 250, 550, 100, 20), [Part("c", Box(50, 301, 200, 309))]
    below = _column("w", 50, 550, 340, 3)
    assert _order(text + caption + below) == _names(caption, text, below)


def test_a_date_at_the_end_of_a_line_stays_on_it() -> None:
    text, date = _column("t", 50, 300, 100, 8), [Part("d", Box(450, 160, 550, 170))]
    assert _order(text + date) == [*(f"t{n}" for n in range(6)), "d", "t6", "t7"]


def test_a_label_and_its_value_are_a_row() -> None:
    labels, values = _column("l", 50, 120, 100, 2), _column("v", 300, 380, 100, 2)
    assert _order(labels + values) == ["l0", "v0", "l1", "v1"]


def test_pieces_of_one_line_go_from_left_to_right() -> None:
    pieces = [
        Part("plain", Box(50, 100, 120, 110)),
        Part("bold", Box(122, 99, 160, 111)),
        Part("rest", Box(163, 100, 400, 110)),
        Part("next", Box(50, 112, 400, 122)),
    ]
    assert [[part.name for part in row] for row in rows(pieces[::-1])] == [
        ["plain", "bold", "rest"],
        ["next"],
    ]


def test_a_table_below_a_title_with_small_print_beside_it_ends_the_page() -> None:
    title, labels = _column("t", 330, 460, 80, 1), _column("l", 15, 108, 140, 12)
    table = [Part("table", Box(124, 120, 676, 300))]
    assert _order(title + labels + table) == _names(title, labels, table)
