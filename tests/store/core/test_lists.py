"""Sorting by a column, and filters as they are typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.core.lists import NameFilter, Sort, next_sort, sort_by

NAMES = ("Lease 2024.pdf", "lease draft.pdf", "handbook.docx")


def test_a_column_chosen_again_turns_round_and_then_sorts_no_more() -> None:
    up = next_sort(None, "size")
    down = next_sort(up, "size")
    assert (up, down, next_sort(down, "size")) == (Sort("size"), Sort("size", True), None)
    assert next_sort(down, "name") == Sort("name")
    assert (Sort("size").arrow, Sort("size", True).arrow) == ("↑", "↓")


def test_what_is_unknown_comes_last_in_both_directions() -> None:
    sizes = {"a": 2, "b": None, "c": 1}
    assert sort_by(sizes, sizes.get, descending=False) == ["c", "a", "b"]
    assert sort_by(sizes, sizes.get, descending=True) == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("", NAMES),
        ("!", NAMES),
        ("LEASE", NAMES[:2]),
        ("lease !draft", NAMES[:1]),
        ("!pdf", NAMES[2:]),
        ("pdf lease !2024 !x", NAMES[1:2]),
        ("nothing", ()),
    ],
)
def test_words_and_inverse_words(typed: str, left: tuple[str, ...]) -> None:
    assert tuple(name for name in NAMES if NameFilter.parse(typed).matches(name)) == left


@given(st.text(), st.text())
def test_an_inverse_word_keeps_what_the_word_does_not(word: str, name: str) -> None:
    if len(word.split()) == 1 and not word.startswith("!"):
        assert NameFilter.parse(word).matches(name) != NameFilter.parse("!" + word.strip()).matches(
            name
        )
