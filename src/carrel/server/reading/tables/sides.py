"""Independent columns of a page, such as those of a reference card, each with tables of its own."""

from collections.abc import Sequence
from itertools import pairwise

from carrel.server.reading.tables.chunks import Chunk, ChunkRow, rows
from carrel.server.reading.tables.valleys import gutters

_FEWEST = 12
"""Fewest lines of a column of a page."""
_ROWS = 3
"""Fewest lines of several chunks in it, which may be a table."""
_LEVEL = 0.15
"""Lines are level if their middles differ by less than this part of their height."""
_MOSTLY = 0.5
"""Least part of a column's lines that are level with the other's, if both are of one table."""


def page_sides(lines: Sequence[ChunkRow]) -> list[list[ChunkRow]]:
    """The lines of each independent column, from left to right; all lines if there is one.

    In a table, the lines left and right of a gutter are level; those of two columns only by chance.
    """
    for before, after in pairwise(gutters(lines)):
        middle = (before[1] + after[0]) / 2
        chunks = [chunk for line in lines for chunk in line.chunks]
        left = rows(chunk for chunk in chunks if chunk.box.right <= middle)
        right = rows(chunk for chunk in chunks if chunk.box.left >= middle)
        if _is_column(left) and _is_column(right) and not _are_level(left, right):
            return [*page_sides(left), *page_sides(right)]
    return [list(lines)]


def _is_column(lines: Sequence[ChunkRow]) -> bool:
    several = sum(len(line.chunks) > 1 for line in lines)
    return len(lines) >= _FEWEST and several >= _ROWS


def _are_level(left: Sequence[ChunkRow], right: Sequence[ChunkRow]) -> bool:
    fewer, more = sorted((left, right), key=len)
    heights = [_middle(chunk) for line in more for chunk in line.chunks]
    level = sum(
        any(
            abs(_middle(chunk) - height) < _LEVEL * chunk.box.height
            for chunk in line.chunks
            for height in heights
        )
        for line in fewer
    )
    return level >= _MOSTLY * len(fewer)


def _middle(chunk: Chunk) -> float:
    return (chunk.box.top + chunk.box.bottom) / 2
