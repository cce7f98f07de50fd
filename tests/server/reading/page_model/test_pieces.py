"""Pieces of a text layer."""

from collections.abc import Sequence

from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.page_model.pieces import page_pieces


def item(text: str, x: float, width: float, words: Sequence[PlacedWord]) -> TextItem:
    return TextItem(text, x, 0, width, 10, 0, "CMR10", 10, words)


def test_a_formula_without_words_keeps_its_text_and_its_place() -> None:
    said = item("Sei $(X,\\mathfrak{T})$", 110, 47, [PlacedWord("Sei", 110, 0, 14, 10)])
    alone = item("$x_{1}$", 165, 10, [])
    priced = item(
        "for $5", 190, 30, [PlacedWord("for", 190, 0, 12, 10), PlacedWord("$5", 206, 0, 14, 10)]
    )
    (row,) = page_pieces([said, alone, priced], [], ())
    found = [(piece.text, piece.box[0], piece.box[2]) for piece in row]
    assert found == [
        ("Sei $(X,\\mathfrak{T})$", 110, 157),
        ("$x_{1}$", 165, 175),
        ("for $5", 190, 220),
    ]
