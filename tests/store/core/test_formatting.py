import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.store.core.formatting import (
    age,
    count,
    duration,
    one_line,
    picture_words,
    raise_notes,
    range_words,
    size,
)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (310_000, "310 kB"),
        (1_234_567, "1.2 MB"),
        (9_960_000, "10 MB"),
        (48_000_000, "48 MB"),
        (999_600, "1.0 MB"),
        (5e15, "5,000 TB"),
    ],
)
def test_size(number: float | None, words: str) -> None:
    assert size(number) == words


UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@given(st.integers(0, 10**16))
def test_a_size_is_right_to_two_figures_and_short(number: int) -> None:
    value, unit = size(number).replace(",", "").split()
    assert float(value) * UNITS[unit] == pytest.approx(number, rel=0.06)
    assert float(value) < 1000 or unit == "TB"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (3600, "1 h ago"),
        (86399, "23 h ago"),
        (3 * 86400, "3 d ago"),
    ],
)
def test_age(seconds: float, words: str) -> None:
    assert age(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (0.4, "0.4 s"), (1.2, "1.2 s"), (2, "2 s"), (9, "9 s"), (45.4, "45 s"),
     (200, "3 min"), (7300, "2 h")],
)  # fmt: skip
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@given(st.text())
@example("a\u2060b\U000e0001c")
def test_one_line_keeps_every_visible_letter_and_no_line_end(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert visible(line) == visible(text)


def visible(text: str) -> list[str]:
    """The letters of a text but for blanks, formats and tags, which a name loses."""
    letters = "".join(text.split())
    return [letter for letter in letters if unicodedata.category(letter) not in ("Cf", "Cn")]


def test_counts_and_ranges() -> None:
    assert count(1204) == "1,204"
    assert range_words(2, 20, 1204, 20) == "41–60 of 1,204"
    assert range_words(0, 50, None, 3) == "1–3"
    assert range_words(0, 50, 0, 0) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [("img-0.jpeg", "Picture 1"), ("img-99001.jpeg", "Picture 2"), ("plan.png", "plan.png")],
)
def test_a_page_counts_its_pictures_from_1(name: str, words: str) -> None:
    assert picture_words(name) == words


def test_marks_of_notes_are_raised_but_in_code() -> None:
    text = "said[^12], `[^1]` and \\[^1]\n\n```\n[^2]\n```\n\n[^12]: Once.\n\n[^*]: Twice."
    raised = "said¹², `[^1]` and \\[^1]\n\n```\n[^2]\n```\n\n¹² Once.\n\n\\* Twice."
    assert raise_notes(text) == raised
