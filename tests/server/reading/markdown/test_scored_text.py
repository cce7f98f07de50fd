"""The place of every word in the Markdown."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from carrel.server.reading.markdown.compose import Raster, compose
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.page.elements import (
    Box,
    Kind,
    Line,
    PageFrame,
    PageLayout,
    Region,
    Word,
)
from carrel.server.reading.page.hyphens import join_lines
from carrel.server.reading.page.table import LinkMark, Table
from carrel.wire.ocr import Page

BOX = Box(10, 10, 100, 20)
RASTER = Raster(72, 600, 800, 1.0, lambda box: Image.new("RGB", (1, 1)))
KINDS: list[Kind] = [
    "heading", "paragraph", "list_item", "code", "caption", "note", "aside", "header", "footer",
]  # fmt: skip

words = st.text("ab*_#<|`\\[]()1.-–é\u00a0א", min_size=1, max_size=6).filter(str.strip)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    read = tuple(
        Word(word, draw(st.floats(0, 1)))
        for text in draw(st.lists(words, min_size=1, max_size=5))
        for word in text.split()
    )
    text = " ".join(word.text for word in read) + draw(st.sampled_from(["", "-"]))
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    marks = (LinkMark(start, end, draw(st.sampled_from(["", "https://example.org/(x)"]))),)
    return Line(text, BOX, 10, read if draw(st.booleans()) else (), marks=marks[: start != end])


@st.composite
def regions(draw: st.DrawFn) -> Region:
    rows = tuple(draw(st.lists(lines(), min_size=1, max_size=3)))
    region = Region(draw(st.sampled_from(KINDS)), BOX, join_lines(rows), 1, "1.", None, rows)
    if draw(st.booleans()):
        cells = [[line.text, line.text] for line in rows]
        region = replace(region, kind="table", table=Table.of_rows(cells))
    return region


def _page(found: list[Region], **options: object) -> Page:
    layout = PageLayout(PageFrame(600, 800), found)
    return compose(0, layout, RASTER, ReadOptions(granularity="word", **options))  # type: ignore[arg-type]


@settings(max_examples=60)
@given(st.lists(regions(), max_size=4), st.sampled_from([None, "markdown", "html"]))
def test_every_word_stands_where_its_score_says(found: list[Region], form: str | None) -> None:
    page = _page(found, table_format=form)
    assert page.confidence_scores is not None
    texts = [(page.markdown, page.confidence_scores.word_confidence_scores)]
    texts += [(table.content, table.word_confidence_scores) for table in page.tables]
    for text, scores in texts:
        end = 0
        for word in scores or []:
            assert word.text.strip()
            assert text.startswith(word.text, word.start_index)
            assert word.start_index >= end
            end = word.start_index + len(word.text)


@given(st.lists(lines(), min_size=1, max_size=3))
def test_no_letter_of_a_paragraph_is_without_a_score(found: list[Line]) -> None:
    text = join_lines(found)
    page = _page([Region("paragraph", BOX, text, lines=tuple(found))])
    assert page.confidence_scores is not None
    scores = page.confidence_scores.word_confidence_scores or []
    told = "".join(word.text for word in scores).replace("\\", "")
    assert "".join(told.split()) == "".join(text.split()).replace("\\", "")


def test_a_word_has_the_certainty_that_it_was_read_with() -> None:
    first = Line("one two one-", BOX, 10, (Word("one", 0.9), Word("two", 0.8), Word("one-", 0.7)))
    second = Line("half * *x", BOX, 10, (Word("half", 0.6), Word("*", 0.5), Word("*x", 0.4)))
    page = _page([Region("paragraph", BOX, "one two onehalf * *x", lines=(first, second))])
    assert page.confidence_scores is not None
    assert [
        (word.text, word.confidence) for word in page.confidence_scores.word_confidence_scores or []
    ] == [("one", 0.9), (" two", 0.8), (" onehalf", 0.4), (" *", 0.5), (" \\*x", 0.4)]
