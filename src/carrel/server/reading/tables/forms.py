"""A table as Markdown and as HTML."""

import html
from collections.abc import Iterator
from typing import NamedTuple

from carrel.server.reading.tables.table import Cell, Table
from carrel.wire.ocr import TableFormat


class Piece(NamedTuple):
    """A part of the form: what stood in the table, or the syntax around it."""

    text: str
    content: bool = False


def pieces(table: Table, form: TableFormat) -> Iterator[Piece]:
    """The table in one of its forms, from the first letter to the last."""
    return _html(table) if form == "html" else _markdown(table)


def written(table: Table, form: TableFormat) -> str:
    """The table in one of its forms."""
    return "".join(piece.text for piece in pieces(table, form))


def _markdown(table: Table) -> Iterator[Piece]:
    """Markdown knows no spans: a cell's text stands in the first of its places."""
    for number, row in enumerate(table.rows()):
        yield Piece("|" if number == 0 else "\n|")
        texts = {cell.column: cell.text for cell in row}
        for column in range(table.width):
            text = " ".join(texts.get(column, "").split()).replace("|", "\\|")
            yield Piece(" ")
            if text:
                yield Piece(text, content=True)
            yield Piece(" |")
        if number == 0:
            yield Piece("\n|" + " --- |" * table.width)


def _html(table: Table) -> Iterator[Piece]:
    yield Piece("<table>")
    for number, row in enumerate(table.rows()):
        tag = "th" if number < table.header_rows else "td"
        yield Piece("<tr>")
        for cell in row:
            yield Piece(f"<{tag}{_spans(cell)}>")
            text = " ".join(cell.text.split())
            if text:
                yield Piece(html.escape(text, quote=False), content=True)
            yield Piece(f"</{tag}>")
        yield Piece("</tr>")
    yield Piece("</table>")


def _spans(cell: Cell) -> str:
    across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return across + down
