"""Tables in HTML."""

from typing import Any

from lxml import etree

from carrel.server.reading.markdown.inline import address
from carrel.server.reading.office.archive import whole_number
from carrel.server.reading.office.web.inline import BLOCKS, HIDDEN, name_of
from carrel.server.reading.page.table import Cell, MarkedText, Table

_MAX_SPAN = 100
"""Most columns or rows that one cell may span."""
_MOST_EMPTY = 50
"""Most grid places per cell; in a sparser table, spans are ignored."""


def table_rows(element: Any) -> list[Any]:
    """Return the rows of a table, without those of nested tables."""
    rows = element.iter("{*}tr")
    return [row for row in rows if next(row.iterancestors("{*}table")) is element]


def table_of(element: Any) -> Table | None:
    """Read a table; None if it serves layout alone."""
    if next(element.iterdescendants("{*}table"), None) is not None:
        return None
    rows = table_rows(element)
    cells = _place(rows, _MAX_SPAN)
    if not cells:
        return None
    bodies = (n for n, row in enumerate(rows) if any(name_of(cell) == "td" for cell in row))
    heads = next(bodies, len(rows))
    table = Table.of(cells, header_rows=max(1, heads))
    headed = any(name_of(cell) == "th" for row in rows for cell in row)
    return table if table.width > 1 or headed else None


def _place(rows: list[Any], most: int) -> list[Cell]:
    """Place the cells of a table on its grid; each spans at most `most` columns or rows."""
    cells: list[Cell] = []
    limit = _MOST_EMPTY * sum(map(len, rows))
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(rows):
        column = 0
        for field in (cell for cell in row if name_of(cell) in ("td", "th")):
            while (number, column) in taken:
                column += 1
            down = min(max(1, whole_number(field.get("rowspan"), 1)), len(rows) - number, most)
            across = min(max(1, whole_number(field.get("colspan"), 1)), most)
            text, marks = _cell_text(field)
            cells.append(Cell(text, number, column, down, across, marks))
            taken.update((number + r, column + c) for r in range(1, down) for c in range(across))
            column += across
            if most > 1 and max(len(taken), column * len(rows)) > limit + _MAX_SPAN**2:
                # Mostly spans, which may claim any size: ignore them.
                return _place(rows, 1)
    return cells


def _cell_text(cell: Any) -> MarkedText:
    """Return the words and links of a cell, with a space between blocks."""
    pieces: list[tuple[str, str]] = []
    links = [""]
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        if event == "start":
            href = (element.get("href") or "").strip() if name_of(element) == "a" else ""
            links.append(href if address(href) else links[-1])
            if name_of(element) in BLOCKS or name_of(element) == "br":
                pieces.append((" ", ""))
            if name_of(element) not in HIDDEN:
                pieces.append((element.text or "", links[-1]))
        else:
            links.pop()
            if element is not cell:
                pieces.append((element.tail or "", links[-1]))
    return MarkedText.of(pieces)
