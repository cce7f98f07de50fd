"""Doubts about the reading order of blocks and the cells of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.text import width_of

if TYPE_CHECKING:
    from carrel.wire.ocr import Block

DOUBTFUL = 0.7
"""Confidence below which a word, block, order or table is doubtful."""
FLOWING = frozenset({"text", "list", "caption"})
SPREAD = 1.75
"""Ratio of a block's width to its longest line's from which its words stand apart."""
CHARACTER = 0.5
"""Width of an average Latin character, in line heights."""
SHORTEST = 6
"""Number of characters from which a line is long enough to judge."""


def is_order_doubtful(block: Block) -> bool:
    """Return whether a block's place in the reading order is doubtful, by its score or its
    layout."""
    scores = block.confidence_scores
    if scores is not None and scores.order_confidence_score is not None:
        return scores.order_confidence_score < DOUBTFUL
    return _stands_apart(block)


def has_doubtful_cells(block: Block) -> bool:
    """Return whether a table's cells are doubtful."""
    scores = block.confidence_scores
    structure = None if scores is None else scores.structure_confidence_score
    return structure is not None and structure < DOUBTFUL


def _stands_apart(block: Block) -> bool:
    """Return whether a block's words stand apart, as labels of a chart or cells read as one line
    do.

    Such words were joined by their height on the page, which may not be the reading order. A block
    without a position is never doubtful.
    """
    left, top = block.top_left_x, block.top_left_y
    right, bottom = block.bottom_right_x, block.bottom_right_y
    if block.type not in FLOWING or left is None or top is None or right is None or bottom is None:
        return False
    lines = block.content.split("\n")
    longest = max(map(width_of, lines))
    line_height = (bottom - top) / len(lines)
    return longest >= SHORTEST and right - left > SPREAD * longest * CHARACTER * line_height
