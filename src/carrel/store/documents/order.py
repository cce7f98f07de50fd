"""Blocks whose reading order or cells are doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from carrel.wire.ocr import Block

DOUBTFUL = 0.7
"""Confidence below which a word, block, order or table counts as doubtful."""
FLOWING = frozenset({"text", "list", "caption"})
SPREAD = 1.75
"""Width of a block in widths of its longest line, from which its words stand apart."""
CHARACTER = 0.5
"""Width of an average Latin character in line heights."""
SHORTEST = 6
"""Characters of a line that is long enough to judge."""


def order_doubtful(block: Block) -> bool:
    """Return whether a block may follow the wrong one, by its score or by where its words stand."""
    scores = block.confidence_scores
    if scores is not None and scores.order_confidence_score is not None:
        return scores.order_confidence_score < DOUBTFUL
    return _stands_apart(block)


def cells_doubtful(block: Block) -> bool:
    """Return whether a table's cells may be other text side by side, or in other places."""
    scores = block.confidence_scores
    structure = None if scores is None else scores.structure_confidence_score
    return structure is not None and structure < DOUBTFUL


def _stands_apart(block: Block) -> bool:
    """Return whether a block's words stand apart, as labels of a chart or cells read as a line do.

    Such words were joined by their height on the page, which need not be the order they are read
    in. A block without a place or with its words in a row is not doubted.
    """
    left, top = block.top_left_x, block.top_left_y
    right, bottom = block.bottom_right_x, block.bottom_right_y
    if block.type not in FLOWING or left is None or top is None or right is None or bottom is None:
        return False
    lines = block.content.split("\n")
    longest = max(map(_width, lines))
    line_height = (bottom - top) / len(lines)
    return longest >= SHORTEST and right - left > SPREAD * longest * CHARACTER * line_height


def _width(text: str) -> int:
    """Return a width in Latin characters, of which an ideograph takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
