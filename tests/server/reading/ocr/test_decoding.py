"""Guesses for each step of a line become letters, spaces and how much of the ink they explain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.reading.ocr.decoding import Decoder, Letter, covered_share

ALPHABET = ["", *"abdtďťéが", " "]


def guessed(*steps: dict[str, float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The chances of a line whose steps have these letters, and else nothing."""
    chances = np.zeros((len(steps), len(ALPHABET)), np.float32)
    for chance, step in zip(chances, steps, strict=True):
        for letter, part in step.items():
            chance[ALPHABET.index(letter)] = part
        chance[0] = 1 - sum(step.values())
    return chances


def text(*steps: dict[str, float]) -> str:
    return "".join(letter.text for letter in Decoder(ALPHABET).letters(guessed(*steps)))


@given(st.text("abdt ", max_size=12), st.data())
def test_a_certain_line_is_read_however_long_its_letters_last(
    line: str, data: st.DataObject
) -> None:
    steps: list[dict[str, float]] = []
    for letter in line:
        steps += data.draw(st.integers(1, 3)) * [{letter: 1.0}] + [{}]
    assert text(*steps) == line


def test_a_letter_is_as_certain_as_its_best_step() -> None:
    # Chances that a float holds exactly.
    chances = guessed({"a": 0.625}, {"a": 0.875}, {}, {"b": 0.75})
    assert Decoder(ALPHABET).letters(chances) == [Letter("a", 0.875, 0), Letter("b", 0.75, 3)]


def test_there_is_a_letter_where_several_are_likelier_than_none() -> None:
    assert text({"a": 0.35, "b": 0.25}) == "a"


def test_small_chances_of_a_space_add_up() -> None:
    assert text({"a": 1}, {" ": 0.1}, {" ": 0.1}, {"b": 1}) == "a b"
    assert text({"a": 1}, {" ": 0.1}, {"b": 1}) == "ab"
    assert text({"a": 1}, {" ": 0.2}, {" ": 0.9}, {"b": 1}) == "a b"


def test_a_rare_letter_is_read_where_it_is_thought_of() -> None:
    assert text({"t": 0.99, "ť": 0.01}, {"d": 1}) == "ťd"


def test_a_doubtful_accent_stands_behind_its_letter() -> None:
    assert text({"é": 0.99}) == "é"
    assert text({"é": 0.9}) == "e\N{COMBINING ACUTE ACCENT}"
    assert text({"が": 0.9}) == "が"


def test_a_blank_line_has_no_letters() -> None:
    assert Decoder(ALPHABET).letters(guessed({}, {})) == []


def test_ink_far_from_any_letter_was_not_read() -> None:
    found = [Letter("a", 1, 2), Letter(" ", 1, 20), Letter("b", 1, 38)]
    everywhere = np.ones(40, bool)
    assert covered_share(found, everywhere) == pytest.approx(11 / 40)
    assert covered_share(found, everywhere & (np.arange(40) < 6)) == 1
    assert covered_share([], everywhere) == 0
