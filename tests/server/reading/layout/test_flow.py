"""Reading order, on boxes alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from carrel.server.reading.layout.flow import reading_order
from carrel.server.reading.page.elements import Box


@dataclass(frozen=True)
class Part:
    name: str
    box: Box


Block = list[Part]


def _column(name: str, left: float, right: float, top: float, count: int) -> Block:
    """Lines of 10 points, 12 apart."""
    return [
        Part(f"{name}{number or ''}", Box(left, top + 12 * number, right, top + 12 * number + 10))
        for number in range(count)
    ]


def _order(*blocks: Block, solids: Sequence[Part] = ()) -> list[str]:
    """The letters of the parts in reading order."""
    # Which part comes first in the file says nothing.
    given = blocks[::-1]
    parts = [*(block[0] for block in given), *solids]
    lines = [[line.box for line in block] for block in given]
    found = reading_order(lines, [solid.box for solid in solids])
    return [parts[number].name for number in found]


def _cut(block: Block, *places: int) -> list[Block]:
    """The paragraphs of a column, each named as its first line."""
    return [block[start:end] for start, end in pairwise([0, *places, len(block)])]


def test_nothing() -> None:
    assert reading_order([]) == []


def test_one_column() -> None:
    assert _order(*_cut(_column("a", 50, 550, 100, 30), 5, 20)) == ["a", "a5", "a20"]


def test_two_and_three_columns() -> None:
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 100, 30)
    paragraphs = [*_cut(first, 12), *_cut(second, 11)]
    assert _order(*paragraphs) == ["a", "a12", "b", "b11"]
    narrow = [
        _column(name, 50 + 180 * n, 210 + 180 * n, 103 + 4 * n, 20) for n, name in enumerate("abc")
    ]
    assert _order(*narrow) == ["a", "b", "c"]


def test_columns_that_begin_and_end_at_different_heights() -> None:
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 160, 10)
    assert _order(*_cut(first, 3, 25), *_cut(second, 4)) == ["a", "a3", "a25", "b", "b4"]


def test_a_title_above_and_a_note_below_both_columns() -> None:
    title, note = _column("t", 150, 450, 60, 1), _column("n", 50, 550, 500, 2)
    first, second = _column("a", 50, 290, 100, 30), _column("b", 310, 550, 106, 30)
    assert _order(first, second, title, note) == ["t", "a", "b", "n"]


def test_a_heading_at_the_left_does_not_come_before_a_title_amid_the_page() -> None:
    title, heading = _column("t", 200, 400, 60, 1), _column("h", 50, 150, 90, 1)
    assert _order(title, heading, _column("a", 50, 550, 110, 10)) == ["t", "h", "a"]


def test_a_title_over_the_gutter_comes_before_the_first_column() -> None:
    titles = [_column("t", 266, 343, 60, 1), _column("u", 272, 338, 80, 1)]
    first = _cut(_column("a", 54, 293, 120, 20), 1)
    second = _column("b", 317, 558, 120, 20)
    assert _order(*titles, *first, second) == ["t", "u", "a", "a1", "b"]


def test_a_heading_of_what_comes_next_is_not_the_end_of_the_first_column() -> None:
    first, second = _column("a", 50, 290, 100, 20), _column("b", 310, 550, 100, 20)
    heading, below = _column("h", 50, 150, 370, 1), _column("w", 50, 550, 384, 6)
    assert _order(first, second, heading, below) == ["a", "b", "h", "w"]


def test_columns_again_below_a_wide_part() -> None:
    upper = [_column("a", 50, 290, 100, 10), _column("b", 310, 550, 100, 10)]
    wide = _column("w", 50, 550, 240, 3)
    lower = [_column("c", 50, 290, 300, 10), _column("d", 310, 550, 300, 10)]
    assert _order(*upper, wide, *lower) == ["a", "b", "w", "c", "d"]


def test_a_caption_beside_the_end_of_a_column_is_not_in_its_lines() -> None:
    text, caption = _column("t", 250, 550, 100, 20), [Part("c", Box(50, 301, 200, 309))]
    assert _order(text, caption, _column("w", 50, 550, 340, 3)) == ["c", "t", "w"]


def test_a_label_and_its_value_are_a_row() -> None:
    fields = [*_cut(_column("l", 50, 120, 100, 2), 1), *_cut(_column("v", 300, 380, 100, 2), 1)]
    assert _order(*fields) == ["l", "v", "l1", "v1"]


def test_two_addresses_are_columns_where_their_lines_are_level() -> None:
    left = [_column(name, 50, 140, 100 + 12 * n, 1) for n, name in enumerate("abcdef")]
    for apart in (12, 15):
        right = [_column(name, 300, 420, 100 + apart * n, 1) for n, name in enumerate("wxyz")]
        assert "".join(_order(*left, *right)) == "abcdefwxyz"


def test_labels_and_their_figures_are_rows() -> None:
    labels = [[Box(50, 100 + 12 * n, 140, 110 + 12 * n)] for n in range(4)]
    values = [[Box(300, 100 + 12 * n, 330, 110 + 12 * n)] for n in range(4)]
    found = reading_order([*labels, *values], figures=range(4, 8))
    assert found == [0, 4, 1, 5, 2, 6, 3, 7]


def test_a_narrow_column_is_read_to_its_end() -> None:
    rights = {"a": 120, "b": 110, "c": 185, "d": 110}
    side = [_column(name, 36, rights[name], 100 + 12 * n, 1) for n, name in enumerate(rights)]
    texts = [_column("u", 200, 560, 96, 1), _column("v", 200, 560, 120, 1)]
    assert "".join(_order(*side, *texts)) == "abcduv"


def test_level_headings_of_columns_are_no_row() -> None:
    first, second = _column("a", 50, 290, 100, 20), _column("b", 310, 550, 100, 20)
    assert _order(*_cut(first, 1), *_cut(second, 1)) == ["a", "a1", "b", "b1"]


def test_a_table_below_a_title_with_small_print_beside_it_ends_the_page() -> None:
    title, labels = _column("t", 330, 460, 80, 1), _column("l", 15, 108, 140, 12)
    table = [Part("table", Box(124, 120, 676, 300))]
    assert _order(title, labels, solids=table) == ["t", "l", "table"]
