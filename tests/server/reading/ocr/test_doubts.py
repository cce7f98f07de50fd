"""Of a line that one model has read, the doubtful words and those beside them are read again."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.server.reading.ocr.decoding import Letter
from carrel.server.reading.ocr.line_reader import doubts, widest_gap


def line(text: str, doubted: str = "") -> tuple[list[Letter], list[bool]]:
    """A line with a step for each letter, those of `doubted` unsure, and its ink."""
    letters = [
        Letter(letter, 0.5 if letter in doubted else 0.99, step) for step, letter in enumerate(text)
    ]
    return letters, [not letter.isspace() for letter in text]


def doubted(text: str, letters: str) -> list[str]:
    """The parts of a text that are read again."""
    found, ink = line(text, letters)
    again = doubts(found, ink, 1)
    assert all(0 <= doubt.start < doubt.end <= len(ink) for doubt in again)
    return [text[doubt.letters] for doubt in again]


def test_a_sure_line_is_not_read_again() -> None:
    assert doubted("one two three", "") == []
    assert doubted("", "") == []


def test_a_doubtful_word_is_read_again_with_its_neighbours() -> None:
    assert doubted("one two x four five", "x") == ["two x four"]
    assert doubted("x two three", "x") == ["x two"]
    assert doubted("one two x", "x") == ["two x"]


def test_doubtful_words_near_each_other_are_read_again_together() -> None:
    assert doubted("one x three y five sun", "xy") == ["one x three y five"]
    assert doubted("x two three four five sun y", "xy") == ["x two", "sun y"]


def test_short_parts_grow_as_far_as_they_cost_no_more() -> None:
    found, ink = line("one two x four five seven", "x")
    assert [doubt.letters for doubt in doubts(found[:18], ink[:18], 12)] == [slice(4, 18)]
    assert [doubt.letters for doubt in doubts(found[:9], ink[:9], 9)] == [slice(0, 9)]


def test_a_doubtful_space_may_divide_a_word() -> None:
    found, ink = line("one desk 7@mail two three four")
    found[8] = found[8]._replace(confidence=0.5)
    (again,) = doubts(found, ink, 1)
    assert "".join(letter.text for letter in found[again.letters]) == "desk 7@mail two"


def test_a_word_of_letters_that_look_alike_is_doubtful() -> None:
    assert doubted("II y a un an", "") == ["II y"]
    assert doubted("I am all ill", "") == []


def test_a_line_is_cut_in_the_middle_of_the_space() -> None:
    letters = [Letter("a", 0.99, 0), Letter(" ", 1.0, 1), Letter("b", 0.99, 5)]
    letters += [Letter(" ", 1.0, 6), Letter("x", 0.5, 10)]
    ink = [step in (0, 5, 10) for step in range(11)]
    (again,) = doubts(letters, ink, 1)
    assert (again.letters, again.start, again.end) == (slice(2, 5), 3, 11)


@given(st.text("ab x", max_size=30))
def test_parts_read_again_neither_overlap_nor_cut_a_word(text: str) -> None:
    found, ink = line(text, "x")
    end = 0
    for doubt in doubts(found, ink, 1):
        assert end <= doubt.start < doubt.end <= len(ink)
        assert not (doubt.start and ink[doubt.start - 1] and ink[doubt.start])
        end = doubt.end


def test_the_widest_gap_lies_between_two_letters() -> None:
    ink = [True, False, True, False, False, False, True]
    assert widest_gap(ink, 0, 6) == (3, 6)
    assert widest_gap([True] * 4, 1, 3) == (3, 3)
