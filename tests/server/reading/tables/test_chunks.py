"""Chunks of a text layer."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.tables.chunks import chunks_of_items


@dataclass
class Word:
    text: str
    x: float
    y: float
    width: float
    height: float


def item(text: str, x: float, width: float, words: Sequence[Word]) -> TextItem:
    return TextItem(text, x, 0, width, 10, 0, "CMR10", 10, words)


def test_a_formula_without_words_keeps_its_text_and_its_place() -> None:
    said = item("Sei $(X,\\mathfrak{T})$", 110, 47, [Word("Sei", 110, 0, 14, 10)])
    alone = item("$x_{1}$", 161, 10, [])
    priced = item("for $5", 180, 30, [Word("for", 180, 0, 12, 10), Word("$5", 196, 0, 14, 10)])
    found = [(chunk.text, chunk.box[0], chunk.box[2])
             for chunk in chunks_of_items([said, alone, priced], ())]  # fmt: skip
    assert found == [
        ("Sei $(X,\\mathfrak{T})$", 110, 157),
        ("$x_{1}$", 161, 171),
        ("for $5", 180, 210),
    ]
