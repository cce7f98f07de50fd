"""Chunks are bounded, in order, on their page, and lose no text."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.server.library.chunking import PageChunk, chunk_pages, sentences, split

_WORDS = st.text(alphabet="abcdefgh äßé漢字", min_size=1, max_size=40)
_MARKDOWN = st.lists(
    st.one_of(
        _WORDS.map(lambda words: f"## {words}\n\n"),
        _WORDS.map(lambda words: f"{words}. {words}! "),
        _WORDS.map(lambda words: f"| {words} | {words} |\n"),
        _WORDS.map(lambda words: f"{words}\n\n"),
        st.text(st.characters(exclude_characters="["), max_size=60),
    ),
    max_size=40,
).map("".join)
_SIZE = st.integers(min_value=16, max_value=300)


@settings(deadline=None)
@given(_MARKDOWN, _SIZE)
def test_pieces_join_to_the_text_and_keep_the_bound(text: str, size: int) -> None:
    pieces = split(text, size)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= size for piece in pieces)


@settings(deadline=None)
@given(st.lists(_MARKDOWN, max_size=5), _SIZE)
def test_every_word_of_a_page_is_in_a_chunk_of_that_page(pages: list[str], size: int) -> None:
    chunks = chunk_pages(enumerate(pages), size)
    for number, page in enumerate(pages):
        found = "".join(chunk.text for chunk in chunks if chunk.page == number)
        assert re.sub(r"[\W_]", "", found) == re.sub(r"[\W_]", "", page)
    assert [chunk.page for chunk in chunks] == sorted(chunk.page for chunk in chunks)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=15), min_size=1), _SIZE)
def test_no_cut_inside_a_word_that_fits(words: list[str], size: int) -> None:
    pieces = split(" ".join(words), size)
    assert [word for piece in pieces for word in piece.split()] == words


@settings(deadline=None)
@given(_MARKDOWN, _SIZE)
def test_a_chunk_knows_where_it_begins(page: str, size: int) -> None:
    for chunk in chunk_pages([(0, page)], size):
        assert page[chunk.start : chunk.start + len(chunk.text)] == chunk.text


def test_cuts_between_paragraphs_before_it_cuts_between_sentences() -> None:
    first = "One sentence here. " * 5 + "\n\n"
    second = "Another one there. " * 5
    assert split(first + second, 120) == [first, second]


def test_a_heading_stays_with_its_text() -> None:
    filler, heading, body = "word " * 30, "## Terms\n\n", "Pay within ten days. " * 12
    pieces = split(f"{filler}\n\n{heading}{body}", 200)
    assert next(piece for piece in pieces if "## Terms" in piece).count("Pay within") >= 1


def test_pieces_are_of_about_equal_length() -> None:
    pieces = split("A sentence of some words. " * 44, 1024)
    assert len(pieces) == 2
    assert min(map(len, pieces)) > 500


def test_pictures_and_rules_make_no_chunk() -> None:
    assert chunk_pages([(0, "![img-0.jpeg](img-0.jpeg)\n\n---\n"), (3, "Text")]) == [
        PageChunk(3, 0, "Text")
    ]


@settings(deadline=None)
@given(_MARKDOWN)
def test_every_word_is_in_a_sentence(text: str) -> None:
    found = sentences(text)
    assert "".join(re.findall(r"\w", "".join(found))) == "".join(re.findall(r"\w", text))
    assert all(re.search(r"\w", sentence) for sentence in found)


def test_sentences_end_at_full_stops_and_lines() -> None:
    text = "# Herons\n\nThey fish at dawn. They nest late!\n---\n- in trees\n"
    assert sentences(text) == ["# Herons", "They fish at dawn.", "They nest late!", "- in trees"]
