"""Tables framed by a grid of rules.

Few tables have every cell drawn: rules may part the head and leave the body to white space, or
part columns and leave rows to their lines. Word positions complete both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.chunks import Chunk, ChunkRow, cell_text, rows, usual_height
from carrel.server.reading.tables.row_groups import numbers_stacked, row_groups
from carrel.server.reading.tables.ruled import Grid, RuledCell
from carrel.server.reading.tables.unruled import is_list
from carrel.server.reading.tables.valleys import Span, columns_of, of_column

_LETTERS = 200
"""Most letters per filled field on average; a frame with more is a page's layout."""
_FILLED = 0.2
"""Smallest fraction of a grid's fields that hold text; a chart's are empty."""
_NARROW = 0.6
"""Rules closer than this fraction of line height are a double rule."""
_ENTRIES = 3
"""Fewest lines of one word each that are rows, not one cell's text in a narrow column."""
_PARTED = 0.5
"""Smallest fraction of a column's lines with text on both sides of a valley that splits it."""


def framed_table(grid: Grid, chunks: Sequence[Chunk]) -> Table | None:
    """Return the framed table; None for a chart, a form's boxes or a page's layout."""
    if not chunks:
        return None
    boxes = [chunk.box for chunk in chunks]
    fields = map(grid.field_box, grid.fields)
    filled = sum(any(map(field.holds_centre, boxes)) for field in fields)
    letters = sum(len(chunk.text) for chunk in chunks)
    if filled < 2 or filled < _FILLED * len(grid.fields) or letters > _LETTERS * filled:
        return None
    grid = _with_columns(_without_gaps(grid, chunks), chunks)
    cells = list(_cells(grid, chunks))
    table = Table.of(cells, _header_rows(cells))
    return table if table.height > 1 and table.width > 1 else None


def _without_gaps(grid: Grid, chunks: Sequence[Chunk]) -> Grid:
    """Drop rows and columns that are only the gap of a double rule."""
    least = _NARROW * usual_height(chunks)
    columns = _edges(grid.xs, [chunk.box.centre[0] for chunk in chunks], least)
    bands = _edges(grid.ys, [chunk.box.centre[1] for chunk in chunks], least)
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
    """Number the edges; those with at most a gap between them share a number."""
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


def _with_columns(grid: Grid, chunks: Sequence[Chunk]) -> Grid:
    """Split grid columns at white space where no rule parts them."""
    inner: dict[int, list[float]] = {}
    for number, (left, right) in enumerate(pairwise(grid.xs)):
        inside = [chunk for chunk in chunks if left < chunk.box.left and chunk.box.right < right]
        spans = _parted(inside)
        if spans:
            inner[number] = [(before[1] + after[0]) / 2 for before, after in pairwise(spans)]
    if not inner:
        return grid
    xs, places = list[float](), list[int]()
    for number, x in enumerate(grid.xs):
        places.append(len(xs))
        xs += [x, *inner.get(number, [])]
    fields = [
        replace(
            field,
            column=places[field.column],
            columns=places[field.column + field.columns] - places[field.column],
        )
        for field in grid.fields
    ]
    return Grid(tuple(xs), grid.ys, tuple(fields))


def _parted(chunks: Sequence[Chunk]) -> list[Span]:
    """Find the columns of text within one grid column; empty for one, and for numbered entries."""
    lines = rows(chunks)
    if sum(len(line.chunks) > 1 for line in lines) < max(2, _PARTED * len(lines)):
        return []
    spans = columns_of(lines)
    return spans if len(spans) > 1 and not is_list(of_column(lines, spans[0])) else []


@dataclass(frozen=True)
class _Piece:
    """A part of a field, with its text."""

    field: RuledCell
    chunks: list[Chunk]


def _cells(grid: Grid, chunks: Sequence[Chunk]) -> Iterator[Cell]:
    """Yield the cells of a grid; split a grid row that holds several rows of text."""
    pieces = [piece for field in grid.fields for piece in _pieces(grid, field, chunks)]
    spans = list(pairwise(grid.xs))
    bands = [_bands(band, pieces, spans) for band in range(len(grid.ys) - 1)]
    starts = list(accumulate((len(bands_of) for bands_of in bands), initial=0))
    for field, held in ((piece.field, piece.chunks) for piece in pieces):
        row, end = starts[field.row], starts[field.row + field.rows]
        edges = bands[field.row]
        parts: dict[int, list[Chunk]] = {}
        for chunk in held:
            middle = chunk.box.centre[1]
            parts.setdefault(sum(edge < middle for edge in edges[1:]), []).append(chunk)
        if field.rows > 1 or len(parts) < 2:
            text, marks = cell_text(held)
            yield Cell(text, row, field.column, end - row, field.columns, marks)
            continue
        for number, part in parts.items():
            text, marks = cell_text(part)
            yield Cell(text, row + number, field.column, 1, field.columns, marks)


def _pieces(grid: Grid, field: RuledCell, chunks: Sequence[Chunk]) -> Iterator[_Piece]:
    """Split a field at column edges that none of its text crosses, if that parts its text."""
    box = grid.field_box(field)
    inside = [chunk for chunk in chunks if box.holds_centre(chunk.box)]
    free = [
        column
        for column in range(field.column + 1, field.column + field.columns)
        if not any(c.box.left < grid.xs[column] < c.box.right for c in inside)
    ]
    edges = [field.column, *free, field.column + field.columns]
    parts = [
        _Piece(
            replace(field, column=start, columns=end - start),
            [c for c in inside if grid.xs[start] <= c.box.centre[0] < grid.xs[end]],
        )
        for start, end in pairwise(edges)
    ]
    yield from parts if sum(bool(part.chunks) for part in parts) > 1 else [_Piece(field, inside)]


def _bands(band: int, pieces: Sequence[_Piece], spans: Sequence[Span]) -> list[float]:
    """Return the upper edge of each row of text in a grid row; the first value is unused."""
    alone = [piece for piece in pieces if piece.field.row == band and piece.field.rows == 1]
    lines = rows(chunk for piece in alone for chunk in piece.chunks)
    filled = [span for span in spans if of_column(lines, span)]
    if len(lines) < 2:
        return [0.0]
    if _are_entries(lines, filled):
        return [line.box.centre[1] - 1 for line in lines]
    if 2 * numbers_stacked(lines, spans) < len(filled):
        return [0.0]
    groups = row_groups(lines, spans, ())
    return [min(line.box.centre[1] for line in group) - 1 for group in groups]


def _are_entries(lines: Sequence[ChunkRow], filled: Sequence[Span]) -> bool:
    """Whether each line is a row: a word of its own with text in every other column."""
    keys = [of_column([line], filled[0]) for line in lines]
    return (
        len(lines) >= _ENTRIES
        and len(filled) > 1
        and all(len(key) == 1 and " " not in key[0].text for key in keys)
        and all(of_column([line], span) for line in lines for span in filled[1:])
    )


def _header_rows(cells: Sequence[Cell]) -> int:
    """Count header rows: the largest row span of a head, at least 2 if a head spans columns."""
    first = [cell for cell in cells if cell.row == 0]
    return max([cell.rows for cell in first] + [2 if cell.columns > 1 else 1 for cell in first])
