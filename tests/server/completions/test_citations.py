"""Citations in an answer's text, wherever it is cut."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.server.completions.citations import CitationReader, Reference

GIVEN = {1, 2, 3}
CITABLE = {1, 2}


def read(pieces: list[str]) -> tuple[list[str | list[int]], int]:
    """The parts of a text that came in pieces, texts joined, and the number of unknown names."""
    reader = CitationReader(GIVEN.__contains__, CITABLE.__contains__)
    parts: list[str | list[int]] = []
    found = [part for piece in pieces for part in reader.take(piece)]
    for part in [*found, *reader.rest()]:
        if isinstance(part, Reference):
            parts.append(part.numbers)
        elif parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return parts, reader.unknown


@pytest.mark.parametrize(
    ("text", "parts", "unknown"),
    [
        ("Three months [ref1].", ["Three months", [1], "."], 0),
        ("Three months[ref 1, ref3].", ["Three months", [1, 3], "."], 0),
        ("A 【ref2】 and (ref3).", ["A", [2], " and", [3], "."], 0),
        ("A [ref1][ref2]", ["A", [1], [2]], 0),
        ("A [ref1, 2, ref1].", ["A", [1, 2], "."], 0),
        ("A [ref7]. B [ref8, ref1].", ["A. B", [1], "."], 2),
        ("A bare number [2].", ["A bare number", [2], "."], 0),
        ("As in [3], values[1] and [9].", ["As in [3], values[1] and [9]."], 0),
        ("See [1](https://example.org) and [1]: a note", None, 0),
        ("Unfinished [ref", None, 0),
        ("", [], 0),
    ],
)
def test_markers_become_references(
    text: str, parts: list[str | list[int]] | None, unknown: int
) -> None:
    assert read([text]) == ([text] if parts is None else parts, unknown)


ANSWERS = st.lists(
    st.sampled_from(
        [
            "[ref1]",
            " [ref9]",
            "[ref1, ref2]",
            "[2]",
            "a[1]",
            "[",
            "]",
            "(",
            "ref1",
            " ",
            "word",
            "[",
        ]
    ),
    max_size=12,
).map("".join)


@example("[2]([ref1]", [4])
@given(ANSWERS, st.lists(st.integers(0, 80)))
def test_where_the_text_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[start:end] for start, end in pairwise(ends)]
    assert read(pieces) == read([text])


@given(st.text(alphabet="ab .,", max_size=200))
def test_text_without_markers_passes_whole(text: str) -> None:
    assert read(list(text)) == ([text] if text else [], 0)
