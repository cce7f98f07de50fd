"""Running heads repeat but for the page's number; content at the edges of pages stays content."""

import itertools

import pytest

from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.layout.evidence import FirstPage, evidence_of
from carrel.server.reading.page.elements import Box, Line, PageFrame, Region
from carrel.server.reading.page.parsed import PlacedWord, TextItem

WIDTH, HEIGHT = 595.0, 842.0


def item(text: str, y: float, x: float = 72.0, size: float = 10.0, font: str = "Times") -> TextItem:
    words, left = [], x
    for word in text.split():
        words.append(PlacedWord(word, left, y, 0.5 * size * len(word), size))
        left += 0.5 * size * (len(word) + 1)
    return TextItem(text, x, y, 0.5 * size * len(text), size, 0.0, font, size, words)


def heads(pages: list[list[TextItem]]) -> list[tuple[list[str], list[str]]]:
    """The running heads of each page, at its top and its bottom."""
    body = "The readers of the house keep their books for a week, and then return them all."
    text = [item(body, 150 + 14 * line) for line in range(40)]
    parts = [PageParts(PageFrame(WIDTH, HEIGHT), [*page, *text]) for page in pages]
    evidence = evidence_of(
        [
            FirstPage(number, HEIGHT, page.reading.pieces)
            for number, page in enumerate(parts)
            if page.reading
        ]
    )
    found = []
    for page in parts:
        layout = page_layout(page, evidence)
        edges = ("header", "footer")
        found.append(
            tuple([part.text for part in layout.regions if part.kind == edge] for edge in edges)
        )
    return found  # type: ignore[return-value]


@pytest.mark.parametrize(
    "text",
    ["Annual report 2025", "Page {}", "{}", "Annual report | {}", "{} of 12", "– {} –", "Seite {}"],
)
def test_what_repeats_but_for_the_number_of_the_page_is_a_running_head(text: str) -> None:
    pages = [[item(text.format(4 + number), 30)] for number in range(3)]
    assert heads(pages) == [([text.format(4 + number)], []) for number in range(3)]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Chapter {}", 16),
        ("Invoice no. 2025-{}", 10),
        ("Invoice no. 2025-{}", 8),
        ("Table {}.", 10),
        ("Table {}. Loans by room and year", 8),
        ("Section 2.{}", 10),
    ],
)
def test_content_whose_number_changes_stays_in_the_text(text: str, size: float) -> None:
    pages = [[item(text.format(174 + number), 40, size=size)] for number in range(3)]
    assert heads(pages) == [([], [])] * 3


def test_the_head_of_a_table_that_goes_on_stays_in_the_text() -> None:
    table = [
        item(text, 40 + 14 * row, x)
        for row, cells in enumerate([("Room", "Seats", "Floor"), *[("North", "24", "1")] * 4])
        for x, text in zip((72, 250, 400), cells, strict=True)
    ]
    assert heads([table, table, table]) == [([], [])] * 3


def test_pieces_of_sentences_stay_in_the_text() -> None:
    texts = ("were lent in 2019, most of them", "of the house that were new", "in the other room,")
    assert heads([[item(text, 800)] for text in texts]) == [([], [])] * 3


def levels(headings: list[tuple[str, float]]) -> list[int]:
    """The level of each heading of a document, in bold type of its size."""
    lines = [
        Line(text, Box(72, top, 300, top + size), size, (), True)
        for top, (text, size) in zip(itertools.count(80, 40), headings, strict=False)
    ]
    evidence = evidence_of([FirstPage(0, HEIGHT, lines, lines)])
    regions = [Region("heading", line.box, line.text, lines=(line,)) for line in lines]
    return [region.level for region in evidence.with_levels(regions)]


def test_numbers_tell_levels_of_headings_in_the_same_type() -> None:
    assert levels([("1 Rooms", 12), ("1.1 North", 12), ("1.1.1. Seats", 12), ("2. Hours", 12)]) == [
        1, 2, 3, 1,
    ]  # fmt: skip
    assert levels([("1 Rooms", 14), ("1.1 North", 12), ("1.1.1 Seats", 12), ("Index", 14)]) == [
        1, 2, 3, 1,
    ]  # fmt: skip
    assert levels([("1 Rooms", 14), ("1.1 North", 12), ("1.2 South", 11), ("Index", 14)]) == [
        1, 2, 2, 1,
    ]  # fmt: skip


def test_sizes_tell_levels_whatever_the_numbers_say() -> None:
    assert levels([("Rooms", 16), ("1 North", 12), ("2 South", 12)]) == [1, 2, 2]
    assert levels([("2 Rooms", 16), ("2.1 North", 12), ("Summary", 12), ("Notes", 9)]) == [
        1, 2, 2, 3,
    ]  # fmt: skip
