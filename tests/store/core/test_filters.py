"""Filters as they are typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.core.filters import NameFilter

NAMES = ("Lease 2024.pdf", "lease draft.pdf", "handbook.docx")


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
