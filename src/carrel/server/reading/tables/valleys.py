"""Columns of a table, found by the valleys of white space between its words."""

from collections.abc import Sequence
from itertools import accumulate

from carrel.server.reading.tables.chunks import SPACE, Chunk, ChunkRow

Span = tuple[float, float]
"""The left and right edge of a column."""

_TOUCH = 1.5
"""Largest overlap in points of a chunk with a column it does not belong to."""
_CROSSED = 0.17
"""Largest fraction of lines that cross a gutter, as headlines do, and lines run together."""
_CURRENCIES = frozenset("$€£¥")
_UNITS = frozenset("%‰")


def widened(columns: list[Span], row: ChunkRow) -> list[Span]:
    """Widen the columns to fit one more line."""
    spans = sorted([*columns, *((chunk.box.left, chunk.box.right) for chunk in row.chunks)])
    least = SPACE * row.box.height / 2
    merged = spans[:1]
    for left, right in spans[1:]:
        if left - merged[-1][1] < least:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def columns_of(run: Sequence[ChunkRow]) -> list[Span]:
    """Find the columns of some lines; a head or a long line across several parts none."""
    columns: list[Span] = []
    support: list[int] = []
    for row in sorted(run, key=lambda row: -len(row.chunks)):
        least = SPACE * row.box.height / 2
        for chunk in row.chunks:
            left, right = chunk.box.left, chunk.box.right
            over = [
                n for n, (start, end) in enumerate(columns)
                if left < end + least and right > start - least
            ]  # fmt: skip
            if len(over) > 1 and all(support[n] > 1 for n in over):
                continue
            first, last = (over[0], over[-1] + 1) if over else (_after(columns, left),) * 2
            spans = [(left, right), *columns[first:last]]
            columns[first:last] = [(min(s for s, _ in spans), max(e for _, e in spans))]
            support[first:last] = [1 + max(support[first:last], default=0)]
    return _with_signs(columns, run)


def gutters(run: Sequence[ChunkRow]) -> list[Span]:
    """The columns between the valleys that hardly a line crosses, such as those of text."""
    if not run:
        return []
    left, right = min(row.box.left for row in run), max(row.box.right for row in run)
    changes = [0] * (int(right - left) + 3)
    for row in run:
        for chunk in row.chunks:
            changes[int(chunk.box.left - left)] += 1
            changes[int(chunk.box.right - left) + 1] -= 1
    most = _CROSSED * len(run)
    columns: list[Span] = []
    for place, count in enumerate(accumulate(changes)):
        if count <= most:
            continue
        if columns and place - columns[-1][1] <= SPACE * run[0].box.height / 2:
            columns[-1] = (columns[-1][0], place + 1.0)
        else:
            columns.append((float(place), place + 1.0))
    return [(left + start, left + end) for start, end in columns]


def _after(columns: Sequence[Span], left: float) -> int:
    """Count the columns left of a position."""
    return sum(start < left for start, _ in columns)


def _with_signs(columns: Sequence[Span], run: Sequence[ChunkRow]) -> list[Span]:
    """Merge columns of currency or per cent signs into those of their numbers."""
    joined: list[Span] = []
    waiting: Span | None = None
    for column in columns:
        texts = {chunk.text for chunk in of_column(run, column)}
        if texts <= _CURRENCIES:
            waiting = column
        elif joined and texts <= _UNITS:
            joined[-1] = (joined[-1][0], column[1])
        else:
            joined.append((waiting[0], column[1]) if waiting else column)
            waiting = None
    return [*joined, waiting] if waiting else joined


def of_column(run: Sequence[ChunkRow], column: Span) -> list[Chunk]:
    left, right = 2 * column[0], 2 * column[1]
    return [
        chunk
        for row in run
        for chunk in row.chunks
        if left <= chunk.box.left + chunk.box.right <= right
    ]


def reach(chunk: Chunk, columns: Sequence[Span]) -> tuple[int, int]:
    """The first and last column that a head spans."""
    left, right = chunk.box.left + _TOUCH, chunk.box.right - _TOUCH
    over = [n for n, (start, end) in enumerate(columns) if left < end and right > start]
    if over:
        return over[0], over[-1]
    after = _after(columns, left)
    if after in (0, len(columns)):
        return (0, 0) if after == 0 else (after - 1, after - 1)
    return after - 1, after
