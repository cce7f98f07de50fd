"""Spreadsheets to parts, a sheet to a page; and tables in text files."""

import csv
import datetime
import io
from contextlib import suppress

from python_calamine import CalamineWorkbook, SheetTypeEnum

from carrel.server.formats.charsets import decode_text
from carrel.server.reading.markdown.inline import escaped
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.options import UnreadableDocument
from carrel.server.reading.page.table import Cell, Table

MAX_CELLS = 500_000
"""Most cells of a sheet or table; a larger one is refused."""
_TOO_LARGE = f"This table has more than {MAX_CELLS:,} cells. Split it and try again."

Value = int | float | str | bool | datetime.date | datetime.time | datetime.timedelta


def sheet_pages(data: bytes) -> list[list[Part]]:
    """Return the name and cells of every sheet, without empty rows and columns around them."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return [_sheet(book, number) for number in range(len(book.sheet_names))]


def _sheet(book: CalamineWorkbook, number: int) -> list[Part]:
    name = book.sheet_names[number]
    parts = [text_part("title", escaped(" ".join(name.split()), line_start=False), "## ")]
    if book.sheets_metadata[number].typ is SheetTypeEnum.ChartSheet:
        return parts
    sheet = book.get_sheet_by_index(number)
    if sheet.start is None:
        return parts
    if sheet.height * sheet.width > MAX_CELLS:
        raise UnreadableDocument(_TOO_LARGE)
    rows = [[_format_cell(value) for value in row] for row in sheet.to_python(skip_empty_area=True)]
    # A title above the table is no head of its columns.
    above = next((at for at, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    titles = filter(None, map("".join, rows[:above]))
    parts += [text_part("text", escaped(title, line_start=True)) for title in titles]
    rows, top, left = rows[above:], sheet.start[0] + above, sheet.start[1]
    covered, reach = set[tuple[int, int]](), dict[tuple[int, int], tuple[int, int]]()
    for (first_row, first), (last_row, last) in sheet.merged_cell_ranges or []:
        place = (first_row - top, first - left)
        down = min(last_row - top, len(rows) - 1) - place[0] + 1
        across = min(last - left, len(rows[0]) - 1) - place[1] + 1
        if min(place) >= 0 and down * across > 1:
            reach[place] = (down, across)
            covered.update((place[0] + r, place[1] + c) for r in range(down) for c in range(across))
    cells = [
        Cell(text, row, column, *reach.get((row, column), (1, 1)))
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
        if (row, column) in reach or (row, column) not in covered
    ]
    return [*parts, Part("table", table=Table.of(cells))]


def _format_cell(value: Value) -> str:
    """Format a cell as a spreadsheet displays it."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value + 0:.15g}"
        case datetime.datetime():
            return value.isoformat(" ") if value.time() != datetime.time() else str(value.date())
        case _:
            return " ".join(str(value).split())


def table_page(data: bytes, delimiter: str | None = None) -> list[Part]:
    """Read the table in a text file; detect the delimiter if it is None."""
    text = decode_text(data)
    with suppress(csv.Error):
        delimiter = delimiter or csv.Sniffer().sniff(text[:4096], delimiters=",;\t|").delimiter
    rows, width = list[list[str]](), 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or ","):
            if any(field.strip() for field in row):
                rows.append(row)
                width = max(width, len(row))
            if max(len(row), len(rows) * width) > MAX_CELLS:
                raise UnreadableDocument(_TOO_LARGE)
    except csv.Error as error:
        raise UnreadableDocument("This table is damaged: a field in it does not end.") from error
    return [Part("table", table=Table.of_rows(rows))] if rows else []
