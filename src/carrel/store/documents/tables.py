"""The tables of a page, in reading order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.documents.blocks import blocks_of
from carrel.store.documents.table_rows import Rows, rows_of

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

_LINES = re.compile(r"(?:^[ \t]*\|.*(?:\n|\Z))+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table on a page (from 0): its rows, beginning with the head.

    `block` is its block, or None if unknown.
    """

    page: int
    rows: Rows
    block: int | None = None


def tables(page: Page) -> tuple[ReadTable, ...]:
    """Return the tables of a page, in reading order."""
    contents = {table.id: table.content for table in page.tables}
    found: list[tuple[str, int | None]] = [
        (contents.pop(block.table_id or "", block.content), number)
        for number, block in enumerate(blocks_of(page))
        if block.type == "table"
    ]
    found += ((content, None) for content in contents.values())
    if not found:
        found = [(match[0], None) for match in _LINES.finditer(page.markdown)]
    made = (ReadTable(page.index, rows_of(content), block) for content, block in found)
    return tuple(table for table in made if table.rows)
