"""Cheap signs that a page's tables need a second opinion.

The layout model takes as long as ten plain pages, so it runs only on pages with these signs.
"""

from collections.abc import Iterable, Sequence

from carrel.server.reading.page.rules import Rule
from carrel.server.reading.tables.chunks import Chunk, ChunkRow, rows
from carrel.server.reading.tables.ruled import Grid
from carrel.server.reading.tables.valleys import widened

_APART = 3
"""Fewest chunks on a line, and columns shared by lines, that look like a table."""
_GRID = 2
"""More rules than this in each direction look like a frame with cells, or a chart."""
_TOUCH = 3.0
"""Largest distance in points between a rule and the edge of its grid."""


def parts_all(grid: Grid, chunks: Sequence[Chunk]) -> bool:
    """Whether no two chunks on one line share a field of the grid."""
    fields = [grid.field_box(field) for field in grid.fields]
    return all(
        sum(box.holds_centre(chunk.box) for chunk in row.chunks) <= 1
        for row in rows(chunks)
        if len(row.chunks) > 1
        for box in fields
    )


def look_like_tables(lines: Sequence[ChunkRow]) -> bool:
    """Whether three consecutive lines share columns, as justified text never does."""
    return any(
        len(widened(widened(widened([], above), line), below)) >= _APART
        for above, line, below in zip(lines, lines[1:], lines[2:], strict=False)
        if min(map(len, (above.chunks, line.chunks, below.chunks))) >= _APART
    )


def look_like_frames(rules: Iterable[Rule], clear: Sequence[Grid]) -> bool:
    """Whether rules outside `clear` grids look like a frame or a chart."""
    others = [rule for rule in rules if not any(_belongs(rule, grid) for grid in clear)]
    across = sum(rule.across for rule in others)
    return across > _GRID and len(others) - across > _GRID


def _belongs(rule: Rule, grid: Grid) -> bool:
    places, crossed = (grid.ys, grid.xs) if rule.across else (grid.xs, grid.ys)
    beside = places[0] - _TOUCH <= rule.at <= places[-1] + _TOUCH
    return beside and crossed[0] <= (rule.start + rule.end) / 2 <= crossed[-1]
