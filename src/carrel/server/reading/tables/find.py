"""The tables of a page, from its rules and from the white space between its words."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from carrel.server.reading.page.elements import Box, Region
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.seen import (
    ModelRegion,
    Regions,
    Structure,
    no_regions,
    no_structure,
)
from carrel.server.reading.page.table import Table
from carrel.server.reading.tables.certainty import Finder, structure_certainty
from carrel.server.reading.tables.chunks import Chunk, ChunkRow, rows
from carrel.server.reading.tables.framed import framed_table
from carrel.server.reading.tables.ruled import Grid, grids
from carrel.server.reading.tables.seen import has_scale, is_chart, is_prose, with_seen_tables
from carrel.server.reading.tables.sides import page_sides
from carrel.server.reading.tables.signs import look_like_frames, look_like_tables, parts_all
from carrel.server.reading.tables.unruled import UnruledTable, unruled_tables

_OVER = 0.6
"""Largest overlap of two lines of text, as a fraction of the smaller height."""
_LEGEND_ROWS = 3
"""Most rows of a legend set like a table."""


def find_tables(
    chunks: Sequence[Chunk],
    rules: Sequence[Rule],
    regions: Regions = no_regions,
    structure: Structure = no_structure,
    *,
    scanned: bool = False,
) -> list[Region]:
    """Find the tables of an upright page, from top to bottom.

    `chunks` (text) and `rules` (straight lines) are in points from the top left corner.
    `regions` runs the layout model: always on a page `scanned` by OCR, otherwise only where
    white space or rules leave tables or charts uncertain. `structure` returns the cells of a
    region.
    """
    ruled, clear, rest = _ruled(chunks, rules)
    lines = rows(rest)
    unruled = _unruled(lines, rules)
    asked = (
        scanned
        or unruled
        or len(clear) < len(ruled)
        or look_like_frames(rules, clear)
        or look_like_tables(lines)
    )
    seen = regions() if asked else ()
    if any(region.table and _is_grid_of_chart(region.table, region.box, seen) for region in ruled):
        ruled, _, rest = _ruled(chunks, rules, seen)
        unruled = _unruled(rows(rest), rules)
    spaced = [
        Region("table", box, table=table)
        for box, table in unruled
        if not _overlap([chunk for chunk in rest if box.holds_centre(chunk.box)])
        and not is_prose(box, rest, seen, scanned=scanned)
        and not is_chart(table, box, seen)
    ]
    found = with_seen_tables(ruled, spaced, chunks, seen, structure, scanned=scanned)
    finders: dict[Box, Finder] = {region.box: "spaced" for region in spaced}
    finders |= {region.box: "ruled" for region in ruled}
    return [
        _with_certainty(region, finders.get(region.box, "seen"), scanned=scanned)
        for region in sorted(found, key=lambda region: region.box.top)
    ]


def _unruled(lines: Sequence[ChunkRow], rules: Sequence[Rule]) -> list[UnruledTable]:
    """The tables found by white space, in each column of the page."""
    found = unruled_tables(lines, rules)
    sides = page_sides(lines) if found else []
    if len(sides) < 2:
        return found
    return [table for side in sides for table in unruled_tables(side, rules)]


def _with_certainty(region: Region, finder: Finder, *, scanned: bool) -> Region:
    assert region.table is not None
    return replace(region, structure=structure_certainty(region.table, finder, scanned=scanned))


def ruled_tables(chunks: Sequence[Chunk], rules: Sequence[Rule]) -> list[Region]:
    """Return the tables framed by rules, without the scales and legends of charts."""
    return [table for table in _ruled(chunks, rules)[0] if not _is_of_chart(table)]


def _is_of_chart(region: Region) -> bool:
    assert region.table is not None
    legend = region.table.height <= _LEGEND_ROWS
    return legend or (has_scale(region.table) and not _is_full(region.table))


def _is_grid_of_chart(table: Table, box: Box, seen: Sequence[ModelRegion]) -> bool:
    return is_chart(table, box, seen) and not _is_full(table)


def _is_full(table: Table) -> bool:
    """Whether every frame holds a text: the grid of a chart is empty between its scales."""
    return table.width > 1 and all(cell.text for cell in table.cells)


def _ruled(
    chunks: Sequence[Chunk], rules: Sequence[Rule], seen: Sequence[ModelRegion] = ()
) -> tuple[list[Region], list[Grid], list[Chunk]]:
    """Return the tables framed by rules, the grids that are certainly tables, and other chunks.

    The layout model's regions, `seen`, tell charts from tables.
    """
    ruled: list[Region] = []
    clear: list[Grid] = []
    rest = list(chunks)
    for grid in sorted(grids(rules), key=lambda grid: -grid.box.width * grid.box.height):
        inside = [chunk for chunk in rest if grid.box.holds_centre(chunk.box)]
        table = None if _overlap(inside) else framed_table(grid, inside)
        if table is not None and not _is_grid_of_chart(table, grid.box, seen):
            ruled.append(Region("table", grid.box, table=table))
            rest = [chunk for chunk in rest if not grid.box.holds_centre(chunk.box)]
            if parts_all(grid, inside) and not has_scale(table):
                clear.append(grid)
    return ruled, clear, rest


def _overlap(chunks: Sequence[Chunk]) -> bool:
    """Whether text overlaps other text, as a chart's slanted labels do."""
    ordered = sorted((chunk.box for chunk in chunks), key=lambda box: box.top)
    for above, below in pairwise(ordered):
        across = min(above.right, below.right) - max(above.left, below.left)
        down = above.bottom - below.top
        # OCR's boxes of adjacent words may touch.
        if min(across, down) > _OVER * min(above.height, below.height):
            return True
    return False
