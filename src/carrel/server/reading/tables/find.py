"""The tables of a page, from its rules and from the white space between its words."""

from collections.abc import Sequence
from itertools import pairwise

from carrel.server.reading.layout import Region
from carrel.server.reading.tables.chunks import Chunk, cell_text, rows
from carrel.server.reading.tables.ruled import Grid, grids
from carrel.server.reading.tables.rules import Rule
from carrel.server.reading.tables.table import Cell, Table
from carrel.server.reading.tables.unruled import unruled_tables

_LETTERS = 200
"""A frame with longer texts in its fields on average is the layout of a page."""
_OVER = 0.6
"""How much of its height a line may share with the one above it."""
_FILLED = 0.2
"""The least part of a grid's fields with text in them; a chart's are empty."""


def find_tables(chunks: Sequence[Chunk], rules: Sequence[Rule]) -> list[Region]:
    """The tables of an upright page, from top to bottom.

    `chunks` is its text and `rules` its straight lines, both in points from the top left corner.
    """
    found: list[Region] = []
    rest = list(chunks)
    for grid in sorted(grids(rules), key=lambda grid: -grid.box.width * grid.box.height):
        inside = [chunk for chunk in rest if grid.box.holds(*chunk.box.centre)]
        table = _ruled(grid, inside)
        if table is not None:
            found.append(Region("table", grid.box, table=table))
            rest = [chunk for chunk in rest if not grid.box.holds(*chunk.box.centre)]
    for unruled in unruled_tables(rows(chunk for chunk in rest if not chunk.mono), rules):
        if not _overlap([chunk for chunk in rest if unruled.box.holds(*chunk.box.centre)]):
            found.append(Region("table", unruled.box, table=unruled.table))
    return sorted(found, key=lambda region: region.box.top)


def _ruled(grid: Grid, chunks: Sequence[Chunk]) -> Table | None:
    """The table whose frame this is; None for a chart, a form's boxes or a page's layout."""
    held: list[list[Chunk]] = [[] for _ in grid.fields]
    boxes = [grid.field_box(field) for field in grid.fields]
    for chunk in chunks:
        for number, box in enumerate(boxes):
            if box.holds(*chunk.box.centre):
                held[number].append(chunk)
                break
    filled = [chunks for chunks in held if chunks]
    if len(filled) < 2 or len(filled) < _FILLED * len(grid.fields) or len(grid.ys) < 3:
        return None
    letters = sum(len(chunk.text) for chunks in filled for chunk in chunks)
    if letters > _LETTERS * len(filled) or any(map(_overlap, filled)):
        return None
    cells = [
        Cell(text, field.row, field.column, field.rows, field.columns, marks)
        for field, chunks in zip(grid.fields, held, strict=True)
        for text, marks in [cell_text(chunks)]
    ]
    return Table.of(cells, _header_rows(cells))


def _overlap(chunks: Sequence[Chunk]) -> bool:
    """Whether text lies on other text: the slanted labels of a chart."""
    ordered = sorted((chunk.box for chunk in chunks), key=lambda box: box.top)
    for above, below in pairwise(ordered):
        across = min(above.right, below.right) - max(above.left, below.left)
        down = above.bottom - below.top
        if across > 0 and down > _OVER * min(above.height, below.height):
            return True
    return False


def _header_rows(cells: Sequence[Cell]) -> int:
    """One; two where a head covers several columns or rows."""
    first = [cell for cell in cells if cell.row == 0]
    return max([cell.rows for cell in first] + [2 if cell.columns > 1 else 1 for cell in first])
