"""Lines of a text layer."""

import pytest

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.lines import font_style, item_line, one_line
from carrel.server.reading.page.parsed import TextItem


@pytest.mark.parametrize(
    ("font", "bold", "mono"),
    [
        ("Helvetica-Bold", True, False),
        ("PHGXPC+CMBX12", True, False),
        ("CMSSBX10", True, False),
        ("VVNDXJ+CMR10", False, False),
        ("SFBX1440", True, False),
        ("SFRM1095", False, False),
        ("NimbusRomNo9L-Medi", True, False),
        ("NimbusRomNo9L-MediItal", True, False),
        ("FranklinGothic-Medium", False, False),
        ("SFTT1095", False, True),
        ("t1xtt", False, True),
    ],
)
def test_the_name_of_a_font_says_its_style(font: str, bold: bool, mono: bool) -> None:
    assert font_style(font)[:2] == (bold, mono)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Rooms of the north . . . . . . . . 12", "Rooms of the north … 12"),
        ("서론 ············12", "서론 … 12"),
        ("north · south · east · west · all", "north · south · east · west · all"),
    ],
)
def test_leaders_are_one_sign_whatever_their_dots(text: str, said: str) -> None:
    item = TextItem(text, 72, 100, 300, 10, 0, "Helvetica", 10, [])
    line = item_line(item)
    assert line is not None
    assert line.text == said


@pytest.mark.parametrize(
    ("letter", "text", "whole"),
    [
        ("P", "oker has", "Poker has"),
        ("I", "n recent years", "In recent years"),
        ("I", "have", "I have"),
        ("A", "new one", "A new one"),
        ("7", "days", "7 days"),
        ("B", "UT", "B UT"),
        ("A", " ", "A  "),
    ],
)
def test_a_large_first_letter_is_of_its_word(letter: str, text: str, whole: str) -> None:
    initial = Line(letter, Box(40, 96, 55, 128), 32)
    assert one_line([initial, Line(text, Box(60, 100, 120, 108), 8)]).text == whole
