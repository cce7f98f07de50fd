"""Boxes of mathematical symbols."""

import pytest

from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.page.symbols import cut_symbols


def item(height: float, size: float = 10.0, rotation: float = 0.0) -> TextItem:
    return TextItem("x", 0, 0, 20, height, rotation, "", size, ())


def cut(*items: TextItem) -> list[float]:
    cut_symbols(items)
    return [one.height for one in items]


def test_the_box_of_a_line_with_symbols_is_as_high_as_its_letters() -> None:
    assert cut(item(9.5), item(9.5), item(17.4)) == [9.5, 9.5, 10]


def test_sizes_that_fit_few_boxes_cut_none() -> None:
    assert cut(item(12, size=1), item(12, size=1), item(10)) == [12, 12, 10]


@pytest.mark.parametrize("other", [item(60), item(30, rotation=90), item(30, size=0)])
def test_what_is_no_symbol_stays(other: TextItem) -> None:
    height = other.height
    assert cut(item(9.5), item(9.5), other)[-1] == height
