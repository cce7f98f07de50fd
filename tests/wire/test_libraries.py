"""What was found, as it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.wire.libraries import Span, mark_matches


def test_the_matched_words_stand_between_marks() -> None:
    spans = [Span(start=4, end=10), Span(start=18, end=24)]
    assert mark_matches("The notice of the notice.", spans) == "The «notice» of the «notice»."


@pytest.mark.parametrize(
    ("snippet", "shown"),
    [
        ("…end.\n\n### Rent\n\nIt is **due** now.", "…end.\n\nRent\n\nIt is due now."),
        ("| Year | Rent |\n|---|:---:|\n| 2024 | 1,200 |", "Year · Rent\n\n2024 · 1,200"),
        ("…24 | 1,200 |\n| 2025 |  |…", "…24 · 1,200\n2025 · …"),
        ("See ![img-0.png](img-0.png)[the plan](#a).", "See the plan."),
        ("a # b ** c | d [e]", "a # b ** c | d [e]"),
    ],
)
def test_signs_of_markdown_are_left_out(snippet: str, shown: str) -> None:
    assert mark_matches(snippet, []) == shown


@given(st.lists(st.sampled_from(["notice", "period", "§ 4", "24 | 25"]), max_size=6))
def test_plain_words_stay_as_they_are(words: list[str]) -> None:
    text = " ".join(words)
    assert mark_matches(text, []) == text
