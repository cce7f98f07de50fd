"""Blocks whose reading order is doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from carrel.wire.ocr import Block

FLOWING = frozenset({"text", "list", "caption"})
SPREAD = 1.75
"""Width of a block in widths of its longest line, from which its words stand apart."""
CHARACTER = 0.5
"""Width of an average Latin character in line heights."""
SHORTEST = 6
"""Characters of a line that is long enough to judge."""


def order_doubtful(block: Block) -> bool:
    """Whether a block's words stand apart, as labels of a chart or cells read as a line do.

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
    """In Latin characters, of which an ideograph takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
