"""Tables that the layout model sees, split into cells by the method that fits best."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from carrel.server.reading.page.elements import Box, Region
from carrel.server.reading.page.seen import CellBox, ModelRegion, RegionKind, Structure
from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.chunks import Chunk, cell_text, rows
from carrel.server.reading.tables.unruled import are_prose

_LEAST = 4
"""Fewest chunks of text in a table, or numbers on a scale."""
_LEAST_ACROSS = 6
"""Fewest numbers on a horizontal scale: a head may count a few columns."""
_PROSE: frozenset[RegionKind] = frozenset(["title", "text", "list"])
_NOTES: frozenset[RegionKind] = frozenset(["reference", "footnote"])
"""Kinds that the layout model also assigns to tables."""
_DOWN = 3.0
"""Weight of vertical against horizontal distance when assigning a chunk to a cell."""
_SENTENCE = 24
"""Smallest median length of text in columns of prose, in letters."""
_MOST = 0.8
"""Smallest fraction of a region's text in a table of the whole region."""
_NUMBER = re.compile(r"[-−–]?\d+(\.\d+)?%?")
_NUMBERS = re.compile(r"(?:(?:^|\s)[-+−–]?[\d.,]*\d%?(?=\s|$)){5,}")
"""Five or more numbers in one cell: the rows between them were missed."""


def with_seen_tables(
    ruled: Sequence[Region],
    spaced: Sequence[Region],
    chunks: Sequence[Chunk],
    regions: Sequence[ModelRegion],
    structure: Structure,
    *,
    scanned: bool,
) -> list[Region]:
    """Merge the tables found by rules and white space with those that the layout model sees.

    If one was found only in part or doubtfully, the structure model splits it into cells. White
    space is doubtful in a scan, whose words have no exact places.
    """
    found = [*ruled, *spaced]
    taken: list[Box] = []
    for region in sorted(regions, key=lambda region: -region.confidence):
        inside = _inside(region.box, chunks)
        if region.kind != "table" or not _is_tabular(inside):
            continue
        if _any_holds(taken, region.box.centre):
            continue
        taken.append(region.box)
        here = [table for table in found if region.box.holds_centre(table.box)]
        whole = [table for table in here if len(_inside(table.box, inside)) >= _MOST * len(inside)]
        sure = [table for table in whole if not scanned or table in ruled]
        if any(not _doubtful(table) for table in sure):
            continue
        # The model may merge several stacked tables into one.
        parts = [table for table in here if table in ruled and not _doubtful(table)]
        held = sum(len(_inside(table.box, inside)) for table in parts)
        if len(parts) > 1 and held >= _MOST * len(inside):
            continue
        seen = _seen(inside, structure(region.box))
        if seen is not None:
            found = [table for table in found if table not in here] + [seen]
    return found


def _is_tabular(chunks: Sequence[Chunk]) -> bool:
    """Whether there is enough text for a table, in pieces too short for columns of prose."""
    if len(chunks) < _LEAST or median(len(chunk.text) for chunk in chunks) >= _SENTENCE:
        return False
    return not are_prose(rows(chunks))


def is_prose(
    box: Box, chunks: Sequence[Chunk], regions: Sequence[ModelRegion], *, scanned: bool
) -> bool:
    """Whether the layout model takes most text in a box for prose.

    On a page with a text layer, word-length pieces of text override the model: white space is
    exact there.
    """
    kinds = _PROSE | _NOTES if scanned else _PROSE
    prose = [region.box for region in regions if region.kind in kinds]
    inside = _inside(box, chunks)
    if not scanned and _is_tabular(inside):
        return False
    return sum(_any_holds(prose, chunk.box.centre) for chunk in inside) > len(inside) / 2


def is_chart(table: Table, box: Box, regions: Sequence[ModelRegion]) -> bool:
    """Whether a table is the scale of a chart, where the model sees a figure.

    The figure alone is no proof: the model takes coloured tables for figures too.
    """
    x, y = box.centre
    figures = (region.box for region in regions if region.kind == "figure")
    return any(figure.holds(x, y) for figure in figures) and has_scale(table)


def has_scale(table: Table) -> bool:
    """Whether numbers in a column, or in a row below the head, rise or fall in equal steps."""
    columns: dict[int, list[float]] = {}
    for cell in table.cells:
        if _NUMBER.fullmatch(cell.text):
            columns.setdefault(cell.column, []).append(_value(cell.text))
    from_left = sorted(table.cells, key=lambda cell: cell.column)
    across = (
        " ".join(cell.text for cell in from_left if cell.row <= row < cell.row + cell.rows)
        for row in range(1, table.height)
    )
    return any(_is_scale(numbers, _LEAST) for numbers in columns.values()) or any(
        all(map(_NUMBER.fullmatch, texts)) and _is_scale([*map(_value, texts)], _LEAST_ACROSS)
        for texts in map(str.split, across)
    )


def _value(number: str) -> float:
    return float(number.replace("−", "-").replace("–", "-").rstrip("%"))


def _is_scale(numbers: Sequence[float], least: int) -> bool:
    steps = {round(second - first, 6) for first, second in pairwise(numbers)}
    return len(numbers) >= least and len(steps) == 1 and 0 not in steps


def _inside(box: Box, chunks: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if box.holds_centre(chunk.box)]


def _any_holds(boxes: Sequence[Box], point: tuple[float, float]) -> bool:
    return any(box.holds(*point) for box in boxes)


def _seen(chunks: Sequence[Chunk], cells: Sequence[CellBox]) -> Region | None:
    table = _of_cells(chunks, cells) if cells else None
    return (
        Region("table", Box.around(chunk.box for chunk in chunks), table=table) if table else None
    )


def _doubtful(region: Region) -> bool:
    """Whether rules between rows seem to be missing.

    If so, a cell holds a whole column of numbers, or all cells of a row span the next.
    """
    assert region.table is not None
    return not all(region.table.rows()) or any(
        _NUMBERS.search(cell.text) for cell in region.table.cells
    )


def _of_cells(chunks: Sequence[Chunk], cells: Sequence[CellBox]) -> Table | None:
    """Assign each chunk to its nearest cell and build the table."""
    held: dict[CellBox, list[Chunk]] = {cell: [] for cell in cells}
    for chunk in chunks:
        held[min(cells, key=lambda cell: _distance(chunk.box, cell.box))].append(chunk)
    filled = [
        Cell(text, cell.row, cell.column, cell.rows, cell.columns, marks)
        for cell, inside in held.items()
        for text, marks in [cell_text(inside)]
    ]
    table = Table.of(filled, _header_rows(filled))
    return table if table.height > 1 and table.width > 1 else None


def _distance(chunk: Box, cell: Box) -> tuple[float, float]:
    """Distance of a chunk's centre from a cell, then from the cell's centre."""
    x, y = chunk.centre
    across = max(0.0, cell.left - x, x - cell.right)
    down = max(0.0, cell.top - y, y - cell.bottom)
    middle_x, middle_y = cell.centre
    return across + _DOWN * down, abs(x - middle_x) + _DOWN * abs(y - middle_y)


def _header_rows(cells: Sequence[Cell]) -> int:
    """Count header rows: the largest row span of a head, at least 2 if a head spans columns."""
    first = [cell for cell in cells if cell.row == 0]
    return max([1, *(cell.rows for cell in first), *(2 for cell in first if cell.columns > 1)])
