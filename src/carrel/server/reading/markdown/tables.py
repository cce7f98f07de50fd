"""Renders a table as Markdown or HTML."""

import html
from collections.abc import Iterator, Sequence

from carrel.server.reading.markdown.inline import address, escaped
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.page.elements import Line
from carrel.server.reading.page.table import Cell, Table
from carrel.wire.ocr import TableFormat


def written(table: Table, form: TableFormat, source: Sequence[Line] = ()) -> ScoredText:
    """Render a table in one form; `source` are its lines on the page."""
    text = ScoredText()
    if form == "html":
        _add_html(text, table, source)
    else:
        _add_markdown(text, table, source)
    return text


def _add_markdown(text: ScoredText, table: Table, source: Sequence[Line]) -> None:
    """Add a table; Markdown has no spans, so a cell's text goes into its first position."""
    for number, row in enumerate(table.rows()):
        text.syntax("|" if number == 0 else "\n|")
        cells = {cell.column: cell for cell in row}
        for column in range(table.width):
            text.syntax(" ")
            for words, url in _pieces(cells.get(column)):
                text.syntax("[" if url else "")
                text.content(escaped(words, line_start=False).replace("|", "\\|"), source)
                text.syntax(f"]({url})" if url else "")
            text.syntax(" |")
        if number == 0:
            text.syntax("\n|" + " --- |" * table.width)


def _add_html(text: ScoredText, table: Table, source: Sequence[Line]) -> None:
    text.syntax("<table>")
    for number, row in enumerate(table.rows()):
        tag = "th" if number < table.header_rows else "td"
        text.syntax("<tr>")
        for cell in row:
            text.syntax(f"<{tag}{_spans(cell)}>")
            for words, url in _pieces(cell):
                text.syntax(f'<a href="{html.escape(url)}">' if url else "")
                text.content(html.escape(words, quote=False), source)
                text.syntax("</a>" if url else "")
            text.syntax(f"</{tag}>")
        text.syntax("</tr>")
    text.syntax("</table>")


def _pieces(cell: Cell | None) -> Iterator[tuple[str, str]]:
    """Yield a cell's text split at its links, with an empty address for plain text."""
    if cell is None or not cell.text:
        return
    place = 0
    for start, end, url in sorted(cell.marks):
        target = address(url)
        if target and start >= place:
            if place < start:
                yield cell.text[place:start], ""
            yield cell.text[start:end], target
            place = end
    if place < len(cell.text):
        yield cell.text[place:], ""


def _spans(cell: Cell) -> str:
    across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return across + down
