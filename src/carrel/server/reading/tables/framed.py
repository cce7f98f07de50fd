"""Tables with a frame of rules around every cell: the rules give the rows and columns."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.decode import PageReading, joined_text
from carrel.server.reading.tables.ruled import Grid, RuledCell

_NARROW = 0.6
"""Rules closer than this fraction of line height are a double rule."""
_FILLED = 0.2
"""Smallest fraction of a grid's fields that hold text; a chart's are empty."""
_APART = 0.3
"""Pieces less likely to be of one cell than this are of two."""


def framed_table(grid: Grid, page: PageReading, inside: Sequence[int]) -> Table | None:
    """Return the table of a grid, or None if a field has several cells or too few have any."""
    grid = _without_gaps(grid, page, inside)
    held = {
        field: [number for number in inside if box.holds_centre(page.boxes[number])]
        for field in grid.fields
        for box in [grid.field_box(field)]
    }
    filled = sum(bool(pieces) for pieces in held.values())
    if filled < 2 or filled < _FILLED * len(held) or _several(page, held.values()):
        return None
    cells = []
    for field, pieces in held.items():
        text, marks = joined_text([page.pieces[number] for number in pieces])
        cells.append(Cell(text, field.row, field.column, field.rows, field.columns, marks))
    table = Table.of(cells, _header_rows(page, held))
    return table if table.height > 1 and table.width > 1 else None


def _several(page: PageReading, fields: Iterable[Sequence[int]]) -> bool:
    """Return whether any field holds several cells."""
    field_of = {number: n for n, pieces in enumerate(fields) for number in pieces}
    chances = [
        chance
        for _, one, other, chance in page.pairs("cell")
        if one in field_of and field_of[one] == field_of.get(other)
    ]
    return sum(chance < _APART for chance in chances) > 1


def _header_rows(page: PageReading, held: dict[RuledCell, list[int]]) -> int:
    head = page.view.flag("head")
    rows: dict[int, list[float]] = {}
    for field, pieces in held.items():
        rows.setdefault(field.row, []).extend(float(head[number]) for number in pieces)
    count = 0
    while rows.get(count) and sum(rows[count]) > len(rows[count]) / 2:
        count += 1
    return max(1, count)


def _without_gaps(grid: Grid, page: PageReading, inside: Sequence[int]) -> Grid:
    """Drop rows and columns that are only the gap of a double rule."""
    heights = sorted(page.boxes[number].height for number in inside)
    least = _NARROW * heights[len(heights) // 2]
    columns = _edges(grid.xs, [page.boxes[number].centre[0] for number in inside], least)
    bands = _edges(grid.ys, [page.boxes[number].centre[1] for number in inside], least)
    if len(set(columns)) == len(grid.xs) and len(set(bands)) == len(grid.ys):
        return grid
    fields = []
    for field in grid.fields:
        left, right = columns[field.column], columns[field.column + field.columns]
        top, bottom = bands[field.row], bands[field.row + field.rows]
        if left < right and top < bottom:
            fields.append(RuledCell(top, left, bottom - top, right - left))
    return Grid(_joined(grid.xs, columns), _joined(grid.ys, bands), tuple(fields))


def _edges(places: Sequence[float], middles: Sequence[float], least: float) -> list[int]:
    """Return a number for each edge; edges at most a gap apart share one."""
    numbers = [0]
    for before, after in pairwise(places):
        gap = after - before < least and not any(before < middle < after for middle in middles)
        numbers.append(numbers[-1] + (not gap))
    return numbers


def _joined(places: Sequence[float], numbers: Sequence[int]) -> tuple[float, ...]:
    """Place each merged edge midway between its outermost positions."""
    found: dict[int, list[float]] = {}
    for number, place in zip(numbers, places, strict=True):
        found.setdefault(number, []).append(place)
    return tuple((same[0] + same[-1]) / 2 for same in found.values())
