"""The tables of a page."""

from typing import Any

from carrel.server.reading.layout import Box, Region
from carrel.server.reading.tables.table import Table

_CELL_LETTERS = 120
"""What liteparse takes for a table with longer cells on average is columns of text."""


def find_tables(parsed: Any) -> list[Region]:
    """The tables of a page that liteparse parsed with blocks."""
    tables = []
    for block in parsed.blocks or []:
        if block.kind != "table" or block.bbox is None:
            continue
        found = [block.header, *(block.rows or [])] if block.header else block.rows or []
        rows = [[cell.text.strip() for cell in row] for row in found]
        filled = [text for row in rows for text in row if text]
        if filled and sum(map(len, filled)) / len(filled) <= _CELL_LETTERS:
            place = block.bbox
            box = Box(place.x, place.y, place.x + place.width, place.y + place.height)
            tables.append(Region("table", box, table=Table.of_rows(rows)))
    return tables
