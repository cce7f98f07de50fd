"""Finds the tables of a page, framed by rules or seen by the page model."""

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from carrel.server.reading.page.elements import Box, Region
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.decode import NUMBER, PageReading, decode_table, table_pieces
from carrel.server.reading.tables.framed import framed_table, grids, told_tables

FRAMED = 0.995
"""The share of cells framed by rules side by side that are neighbours."""
_DOUBLE = 0.6
"""Rules closer than this part of a line's height are one, drawn as two."""
_LIKELY = 0.5
"""Least mean likelihood that the text in a grid is of cells."""
_COVERED = 0.14
"""Least part of a table in a drawing that its text covers; labels of a drawing stand apart."""
_TICKS = 4
"""Fewest values of an axis."""
_EVEN = 0.7
"""Least share of an axis's steps that are alike: OCR overlooks some values."""


def find_tables(
    page: PageReading, rules: Sequence[Rule], numbers: Collection[int], drawings: Sequence[Box]
) -> list[Region]:
    """Find the tables of some pieces of an upright page, from top to bottom.

    A chart among the `drawings` is part of no table, though a grid may frame both.
    """
    found = list[tuple[list[int], Table, Box | None, float | None]]()
    taken = set(range(len(page.pieces))) - set(numbers)

    def within(box: Box) -> list[int]:
        return [number for number in page.inside(box) if number not in taken]

    for inside in map(within, drawings):
        table = decode_table(page, inside, ()) if inside else None
        if table is not None and _is_chart(table):
            taken.update(inside)
    told, charts = list(told_tables(page)), set(taken)
    likely, heading = page.view.role("cell"), page.view.role("heading")
    double = _DOUBLE * statistics.median([box.height for box in page.boxes]) if rules else 0
    for grid in sorted(grids(rules, double, page.boxes), key=lambda grid: -grid.box.area):
        inside = within(grid.box)
        if not inside or likely[inside].mean() <= _LIKELY:
            continue
        exact = framed_table(grid, page, inside)
        if any({*inside} & known and not (exact and {*inside} >= known) for known, _ in told):
            continue
        table = exact or decode_table(page, inside, rules)
        if table is not None and not _is_chart(table):
            box = grid.box if len(inside) == len(page.inside(grid.box)) else None
            found.append((inside, table, box, FRAMED if exact else None))
            taken.update(inside)
    for known, exact in told:
        if taken.isdisjoint(known):
            found.append(([*known], exact, None, FRAMED))
            taken.update(known)
    for members in table_pieces(page, charts) if found else ():
        parts = [part for part in found if 2 * len({*part[0]} & {*members}) > len(part[0])]
        rest = sorted({*members}.difference(*(inside for inside, *_ in parts)))
        whole = [*rest, *(number for inside, *_ in parts for number in inside)]
        most = max((len(inside) for inside, *_ in parts), default=len(whole))
        # A grid of a small part of a table knows neither its head nor its other rows.
        if 2 * most > len(whole) or not rest or (heading[rest] > _LIKELY).any():
            continue
        table = decode_table(page, whole, rules)
        if table and table.width <= max(part[1].width for part in parts) and not _is_chart(table):
            found = [*(part for part in found if part not in parts), (whole, table, None, None)]
            taken.update(whole)
    for members in table_pieces(page, taken):
        table = decode_table(page, members, rules)
        if table is not None and not _is_chart(table):
            found.append((members, table, None, None))
    regions = [
        Region(
            "table",
            box or Box.around(page.boxes[number] for number in members),
            table=table,
            lines=tuple(page.pieces[number] for number in sorted(members)),
            structure=certain or _certainty(page, members),
        )
        for members, table, box, certain in found
        if certain or not _is_drawn(page, members, drawings)
    ]
    return sorted(regions, key=lambda region: region.box.top)


def _is_drawn(page: PageReading, members: Sequence[int], drawings: Iterable[Box]) -> bool:
    """Return whether most of a table stands in a drawing, and its text covers little of it."""
    boxes = [page.boxes[number] for number in members]
    text = sum(box.area for box in boxes)
    return text < _COVERED * Box.around(boxes).area and any(
        2 * sum(map(drawing.holds_centre, boxes)) > len(boxes) for drawing in drawings
    )


def _is_chart(table: Table) -> bool:
    """Return whether a third of the rows hold few cells, all of them values of an axis."""
    rows = [[id(cell) for cell in row if cell.text] for row in table.rows()]
    sparse = [row for row in rows if row and 2 * len(row) <= table.width]
    if 3 * len(sparse) <= len(rows):
        return False
    columns: dict[int, list[Cell]] = {}
    for cell in table.cells:
        if all(map(NUMBER.fullmatch, cell.text.split())):
            columns.setdefault(cell.column, []).append(cell)
    ticks = {id(cell) for cells in columns.values() if _are_ticks(cells) for cell in cells}
    return 3 * sum(map(ticks.issuperset, sparse)) > len(rows)


def _are_ticks(cells: Iterable[Cell]) -> bool:
    """Return whether a column's numbers go in even steps larger than 1, which numbers its rows."""
    words = " ".join(cell.text for cell in cells).split()
    values = [int(re.sub(r"\D", "", word)) * (1 if word[0].isalnum() else -1) for word in words]
    if len(values) < _TICKS:
        return False
    steps = Counter(one - other for one, other in itertools.pairwise(values))
    [(step, times)] = steps.most_common(1)
    return abs(step) > 1 and times >= _EVEN * (len(values) - 1)


def _certainty(page: PageReading, members: Sequence[int]) -> float:
    """Return the model's mean certainty about neighbouring cells, over pairs of pieces."""
    kinds = ("cell", "row", "column")
    chances = np.stack([page.columns_within(members, what)[3] for what in kinds])
    return round(float(np.maximum(chances, 1 - chances).sum()) / max(1, chances.size), 3)
