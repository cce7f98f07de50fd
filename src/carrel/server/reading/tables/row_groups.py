"""Rows of a table, grouped from its lines: a cell may have several lines."""

import re
from collections.abc import Sequence
from itertools import pairwise

from carrel.server.reading.page.rules import Rule
from carrel.server.reading.tables.chunks import Chunk, ChunkRow, usual_height
from carrel.server.reading.tables.valleys import Span, of_column, reach

_NUMBER = re.compile(r"[-+−–(]?[$€£]?\s?\d[\d.,:\s]*\s?[%)€]?|[-–—]|n/?a", re.IGNORECASE)


def is_number(chunk: Chunk) -> bool:
    """Whether a chunk is a number, or a placeholder for one such as a dash."""
    return _NUMBER.fullmatch(chunk.text) is not None


def row_groups(
    run: Sequence[ChunkRow], columns: Sequence[Span], rules: Sequence[Rule]
) -> list[list[ChunkRow]]:
    """Group a table's lines into rows: a cell may have several lines."""
    height = usual_height([chunk for row in run for chunk in row.chunks])
    banded = _banded(run, rules)
    if len(banded) > 2 and not any(_several_rows(group, columns) for group in banded):
        return banded
    gaps = [below.box.top - above.box.bottom for above, below in pairwise(run)]
    for limit in _limits(gaps, height):
        groups = _split(run, [gap > limit for gap in gaps])
        if not any(_several_rows(group, columns) for group in groups):
            return groups
    breaks = [
        gap > 0.5 * height or not _continues(above, below, columns)
        for gap, (above, below) in zip(gaps, pairwise(run), strict=True)
    ]
    return _split(run, breaks)


def _split(run: Sequence[ChunkRow], breaks: Sequence[bool]) -> list[list[ChunkRow]]:
    groups = [[run[0]]]
    for row, apart in zip(run[1:], breaks, strict=True):
        if apart:
            groups.append([])
        groups[-1].append(row)
    return groups


def _banded(run: Sequence[ChunkRow], rules: Sequence[Rule]) -> list[list[ChunkRow]]:
    """Group lines by the rules between them."""
    left, right = min(row.box.left for row in run), max(row.box.right for row in run)
    heights = [
        rule.at
        for rule in rules
        if rule.across and min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left)
    ]
    breaks = [
        any(above.box.centre[1] < at < below.box.centre[1] for at in heights)
        for above, below in pairwise(run)
    ]
    return _split(run, breaks)


def _limits(gaps: Sequence[float], height: float) -> list[float]:
    """Thresholds between the gaps inside rows and those between rows, widest first."""
    ordered = sorted(gaps, reverse=True)
    return [
        (wide + narrow) / 2 for wide, narrow in pairwise(ordered) if wide - narrow > 0.2 * height
    ]


def numbers_stacked(group: Sequence[ChunkRow], columns: Sequence[Span]) -> int:
    """Count the columns with more than one number in lines taken for one row."""
    return sum(
        sum(is_number(chunk) for chunk in of_column(group, column)) > 1 for column in columns
    )


def _several_rows(group: Sequence[ChunkRow], columns: Sequence[Span]) -> bool:
    """Whether lines taken for one row are several rows."""
    if numbers_stacked(group, columns):
        return True
    return sum(len(row.chunks) == len(columns) for row in group) > 1


def _continues(above: ChunkRow, row: ChunkRow, columns: Sequence[Span]) -> bool:
    """Whether a line continues the cells above it: no first cell, no number."""
    if any(map(is_number, row.chunks)):
        return False
    held = {reach(chunk, columns)[0] for chunk in above.chunks}
    return all(
        reach(chunk, columns)[0] in held and chunk.box.left > columns[0][1] for chunk in row.chunks
    )
