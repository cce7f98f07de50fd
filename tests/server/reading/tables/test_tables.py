"""Tables of digital and scanned pages keep their cells, and nothing else becomes a table."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Spacer
from reportlab.platypus import Table as Drawn

from carrel.server.reading.markdown.page_builder import render_table
from carrel.server.reading.options import ReadResult
from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.table import Cell, Table
from carrel.wire.ocr import Page, TableFormat
from server.reading.conftest import Read
from support.documents import digital_pdf, page_pictures
from support.layouts import laid_out
from support.tables import Grid, Score, grids_of, plain_pdf, score, tables_pdf

read_with_ocr = pytest.mark.asyncio(loop_scope="module")

GRID = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
UNDERLINED = [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black)]
texts = st.text("ab|<&>\\` \n", max_size=6)


def _grids(page: Page) -> list[Grid]:
    return [grid for table in page.tables for grid in grids_of(table.content)]


def _score(expected: Sequence[Sequence[Grid]], reading: ReadResult, alike: float = 1.0) -> Score:
    total = Score()
    for grids, page in zip(expected, reading.pages, strict=True):
        total += score(grids, _grids(page), alike=alike)
    return total


@read_with_ocr
@pytest.mark.parametrize(
    ("ruled", "least"),
    [
        (True, 0.99),
        pytest.param(
            *(False, 0.95),
            marks=pytest.mark.xfail(reason="the page model misses cells of tables without rules"),
        ),
    ],
)
async def test_digital_tables_keep_their_cells(
    tmp_path: Path, read: Read, ruled: bool, least: float
) -> None:
    path = tmp_path / "a.pdf"
    expected = tables_pdf(path, ruled=ruled, seed=7, pages=6)
    result = _score(expected, await read(path, table_format="html"))
    assert result.part >= least
    assert result.false_tables == 0


@read_with_ocr
@pytest.mark.parametrize(
    ("uses", "rows"),
    [
        pytest.param(
            *("back one letter\nto the start\nredraw the line", 4),
            marks=pytest.mark.xfail(reason="the page model takes lines of a frame for one cell"),
        ),
        ("back one letter\nto the start", 2),
    ],
)
async def test_lines_with_a_word_of_their_own_are_rows_of_a_frame(
    tmp_path: Path, read: Read, uses: str, rows: int
) -> None:
    path = tmp_path / "a.pdf"
    table = Drawn([["Key", "Use"], ["^B\n^A\n^L", uses]], style=GRID, colWidths=[90, 200])
    SimpleDocTemplate(str(path), pagesize=A4).build([table])
    (page,) = (await read(path, table_format="html")).pages
    (cells,) = _grids(page)
    assert max(cell.row for cell in cells) + 1 == rows


@read_with_ocr
async def test_numbers_in_equal_steps_that_fill_a_frame_are_a_table(
    tmp_path: Path, read: Read
) -> None:
    path = tmp_path / "a.pdf"
    rows = [[f"{200 * n}.01", str(n)] for n in range(1, 9)]
    SimpleDocTemplate(str(path), pagesize=A4).build([Drawn(rows, style=GRID, colWidths=[60, 60])])
    (page,) = (await read(path, table_format="html")).pages
    (cells,) = _grids(page)
    assert [cell.text for cell in cells] == [text for row in rows for text in row]
    assert not page.images and page.markdown == "[tbl-0.html](tbl-0.html)"


@read_with_ocr
@pytest.mark.parametrize("style", [GRID, UNDERLINED])
async def test_a_table_carried_on_from_the_page_before_has_no_head(
    tmp_path: Path, read: Read, style: list[tuple[object, ...]]
) -> None:
    path = tmp_path / "a.pdf"
    head = [("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    places = ("Oslo", "Bergen", "Narvik", "Bod\u00f8", "Molde")
    rows = [["Town", "Books", "Visits"]]
    rows += [[places[n % 5], str(37 * n % 90), str(101 * n % 700)] for n in range(60)]
    table = Drawn(rows, style=[*style, *head], colWidths=90)
    SimpleDocTemplate(str(path), pagesize=A4).build([table])
    before, after = (await read(path, table_format="html")).pages
    assert before.tables[0].content.startswith("<table><tr><th>Town</th>")
    assert before.tables[0].content.count("<th>") == 3
    assert after.tables[0].content.startswith("<table><tr><td>")
    assert "<th>" not in after.tables[0].content


@read_with_ocr
async def test_lines_that_a_pen_marks_are_no_cells(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    rows = [
        ("Fund", "Authority", "Source", "Expenses"),
        ("Airport Fuel", "Manager", "Fees from sale|of fuel", "Purchase of|fuel to be sold"),
        ("Town Trees", "Warden", "Fees received|under a bylaw", "Planting|and care"),
    ]  # fmt: skip
    for row, texts in enumerate(rows):
        canvas.setFont("Times-Roman" if row else "Times-Bold", 11)
        for column, text in enumerate(texts):
            for number, line in enumerate(text.split("|")):
                x, y = 60 + 120 * column, 700 - 40 * row - 12 * number
                canvas.setFillColor(colors.yellow)
                if row:
                    canvas.rect(x, y - 3, canvas.stringWidth(line, "Times-Roman", 11), 12, 0, 1)
                canvas.setFillColor(colors.black)
                canvas.drawString(x, y, line)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf", table_format="html")).pages
    (cells,) = _grids(page)
    assert [cell.text for cell in cells] == [t.replace("|", " ") for row in rows for t in row]


@read_with_ocr
async def test_a_framed_head_is_part_of_the_table_below(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.pdf"
    head = [["Item", "Reserves", "", ""], ["", "Capital", "Premium", "Insurance"]]
    rows = [[f"Balance {n}", str(37 * n), f"{n}.51", str(101 * n % 700)] for n in range(1, 9)]
    bold = [("SPAN", (1, 0), (-1, 0)), ("FONTNAME", (0, 0), (-1, -1), "Helvetica-Bold")]
    space = Spacer(0, 4)
    parts = [Drawn(head, 90, style=[*GRID, *bold]), space, Drawn(rows, 90)]
    SimpleDocTemplate(str(path), pagesize=A4).build(parts)
    (page,) = (await read(path, table_format="html")).pages
    (cells,) = _grids(page)
    assert [cell.text for cell in cells if cell.row == 1][-3:] == head[1][1:]
    assert [[c.text for c in cells if c.row == n] for n in range(2, 10)] == rows


@read_with_ocr
async def test_boxes_to_tick_are_no_columns(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.setFont("Helvetica", 9)
    rows = [
        ["A", "General", "Claims made"],
        ["B", "Any auto", "Hired"],
        ["C", "Umbrella", "Excess"],
    ]
    canvas.grid([60, 95, 300, 400, 500], [600, 616, 632, 648, 676])
    heads = ["Policy|number", "Type of|insurance", "Limit of|liability", "Total|premium"]
    for x, head in zip((63, 150, 320, 420), heads, strict=True):
        for number, line in enumerate(head.split("|")):
            canvas.drawString(x, 665 - 11 * number, line)
    for number, (name, *labels) in enumerate(rows):
        y = 636 - 16 * number
        canvas.drawString(65, y, name)
        for x, label in zip((110, 200), labels, strict=True):
            canvas.rect(x + 3 * number, y - 4, 12, 16)
            canvas.drawString(x + 20 + 3 * number, y, label)
        canvas.drawString(320, y, f"{number + 2},500")
        canvas.drawString(420, y, f"{number + 4},000")
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf", table_format="html")).pages
    (cells,) = _grids(page)
    assert [[cell.text for cell in cells if cell.row == number] for number in range(1, 4)] == [
        [name, f"{one} {two}", f"{number + 2},500", f"{number + 4},000"]
        for number, (name, one, two) in enumerate(rows)
    ]


@read_with_ocr
async def test_a_last_row_that_only_the_rule_beside_it_frames_is_a_row(
    tmp_path: Path, read: Read
) -> None:
    path = tmp_path / "a.pdf"
    rules = [("LINEABOVE", (0, 0), (-1, -1), 0.5, colors.black)]
    rules += [("LINEAFTER", (0, 0), (0, -1), 0.5, colors.black)]
    rows = [
        ["stop\nname", "Stop a service,\nor a daemon."],
        ["halt", "Halt it."],
        ["scp\na b", "Copy."],
    ]
    SimpleDocTemplate(str(path), pagesize=A4).build([Drawn(rows, style=rules, colWidths=[90, 200])])
    (page,) = (await read(path, table_format="html")).pages
    (cells,) = _grids(page)
    assert [cell.text for cell in cells if cell.row == 2] == ["scp a b", "Copy."]


@read_with_ocr
@pytest.mark.parametrize("turn", [0, 90])
async def test_scanned_tables_keep_their_cells(tmp_path: Path, read: Read, turn: int) -> None:
    path = tmp_path / "a.pdf"
    expected = tables_pdf(path, ruled=True, seed=8, pages=1)
    page_pictures(path)[0].rotate(-turn, expand=True).save(tmp_path / "a.png")
    reading = await read(tmp_path / "a.png", table_format="html")
    assert _score(expected, reading, alike=0.8).part >= 0.9


@read_with_ocr
async def test_scanned_tables_without_rules_keep_their_cells(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.pdf"
    expected = tables_pdf(path, ruled=False, seed=8, pages=1)
    page_pictures(path)[0].save(tmp_path / "a.png")
    reading = await read(tmp_path / "a.png", table_format="html")
    assert _score(expected, reading, alike=0.8).part >= 0.9


@read_with_ocr
async def test_no_text_is_mistaken_for_a_table(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.pdf"
    plain_pdf(path)
    reading = await read(path, table_format="html")
    assert len(reading.pages) > 10
    assert {page.index: _grids(page) for page in reading.pages if page.tables} == {}


@read_with_ocr
async def test_a_chart_and_squared_paper_are_no_tables(tmp_path: Path, read: Read) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.grid([100 + 40 * n for n in range(8)], [400 + 30 * n for n in range(8)])
    for number in range(8):
        canvas.drawString(70, 400 + 30 * number, str(number * 10))
        canvas.drawString(95 + 40 * number, 380, str(2000 + number))
    canvas.showPage()
    canvas.grid([2 * n for n in range(300)], [2 * n for n in range(400)])
    canvas.drawString(100, 700, "Nothing but squares")
    canvas.save()
    (tmp_path / "a.pdf").write_bytes(buffer.getvalue())
    reading = await read(tmp_path / "a.pdf", table_format="html")
    assert [len(page.tables) for page in reading.pages] == [0, 0]
    assert "Nothing but squares" in reading.pages[1].markdown


@read_with_ocr
async def test_a_chart_in_a_tables_frame_is_no_part_of_it(tmp_path: Path, read: Read) -> None:
    """Its line ends between the lines of its grid, and runs along its axes."""
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    places = [f"Region {name}" for name in "ABCDEFGHIJKLM"]
    rows = [[place, f"{1.2 + n / 8:.2f}", f"{1.4 + n / 9:.2f}"] for n, place in enumerate(places)]
    canvas.setFont("Helvetica", 9)
    for number, row in enumerate([["Region", "This week", "Last week"], *rows]):
        for text, right in zip(row, (130, 210, 290), strict=True):
            canvas.drawRightString(right, 689 - 20 * number, text)
        canvas.line(40, 704 - 20 * number, 300, 704 - 20 * number)
    for x in (40, 300, 560):
        canvas.line(x, 424, x, 704)
    canvas.line(40, 424, 560, 424)
    canvas.line(300, 704, 560, 704)
    canvas.rect(310, 434, 240, 260)
    canvas.setFont("Helvetica", 7)
    for number in range(10):
        canvas.drawRightString(350, 468 + 22 * number, f"{20 + 2 * number}.00")
        canvas.line(355, 470 + 22 * number, 540, 470 + 22 * number)
    canvas.line(355, 470, 355, 668)
    for number, month in enumerate("JFMAMJJASOND"):
        canvas.drawString(360 + 15 * number, 455, month)
    line = canvas.beginPath()
    line.moveTo(355, 492)
    for number in range(1, 13):
        line.lineTo(355 + 15 * number, 492 + 7.2 * number + 20 * (number % 3))
    canvas.drawPath(line)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf", table_format="html")).pages
    (cells,) = _grids(page)
    wanted = ["Region", "This week", "Last week", *(text for row in rows for text in row)]
    assert [cell.text for cell in cells] == wanted
    assert len(page.images) == 1 and "38.00" in page.markdown


@read_with_ocr
@pytest.mark.parametrize(("form", "extension"), [("markdown", "md"), ("html", "html")])
async def test_tables_leave_a_placeholder_and_ids_do_not_clash(
    tmp_path: Path, read: Read, form: TableFormat, extension: str
) -> None:
    path = tmp_path / "a.pdf"
    expected = tables_pdf(path, ruled=True, seed=7, pages=4)
    whole = await read(path, table_format=form)
    batch = await read(path, table_format=form, pages=[range(2, 4)])
    assert [page.tables for page in batch.pages] == [page.tables for page in whole.pages[2:]]
    ids = [table.id for page in whole.pages for table in page.tables]
    assert len(set(ids)) == len(ids) == sum(map(len, expected))
    for page in whole.pages:
        for table in page.tables:
            assert table.format == form
            assert table.id.startswith("tbl-") and table.id.endswith(f".{extension}")
            assert page.markdown.count(f"[{table.id}]({table.id})") == 1


@read_with_ocr
async def test_the_words_of_a_table_are_scored_where_they_stand(tmp_path: Path, read: Read) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    (page,) = (await read(path, table_format="html", granularity="word")).pages
    (table,) = page.tables
    scores = table.word_confidence_scores
    assert scores is not None
    assert [score.text.strip() for score in scores] == [
        "Room",
        "Seats",
        "Floor",
        "North",
        "24",
        "1",
        "South",
        "36",
        "2",
    ]
    for word in scores:
        assert table.content.startswith(word.text, word.start_index)
        assert word.confidence == 1.0


@read_with_ocr
async def test_without_a_format_a_table_is_part_of_the_text(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(digital_pdf(tmp_path / "a.pdf", pages=1))).pages
    assert page.tables == []
    assert "| Room | Seats | Floor |\n| --- | --- | --- |\n| North | 24 | 1 |" in page.markdown


@read_with_ocr
async def test_signs_in_a_cell_are_no_syntax(tmp_path: Path, read: Read) -> None:
    story = [Drawn([["Sign", "Sense"], ["*p*", "a|b"], ["<i>", "`c`"]], style=GRID, colWidths=90)]
    SimpleDocTemplate(str(tmp_path / "a.pdf")).build(story)
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == (
        "| Sign | Sense |\n| --- | --- |\n| \\*p\\* | a\\|b |\n| \\<i> | \\`c\\` |"
    )


def _piece(text: str, left: float, top: float, width: float = 60, height: float = 12) -> Line:
    return Line(text, Box(left, 60 + top, left + width, 60 + top + height), 0.85 * height)


def _tables(lines: Sequence[Line]) -> int:
    return sum(region.kind == "table" for region in laid_out(lines))


ROWS = [_piece(f"{row}.{x}", 70 + x, 20.0 * row) for row in range(4) for x in (0, 100, 200)]


def test_numbers_in_rows_and_columns_are_a_table() -> None:
    assert _tables([*ROWS, _piece("10", 370, 40)]) == 1


def _line(words: Sequence[str], spaces: Sequence[float], top: float) -> list[Line]:
    """Words five points wide a letter, with these spaces between them."""
    left, pieces = 70.0, list[Line]()
    for word, space in zip(words, [*spaces, 0], strict=True):
        pieces.append(_piece(word, left, top, 5 * len(word)))
        left += 5 * len(word) + space
    return pieces


def test_a_few_words_with_like_spaces_between_them_are_a_justified_line() -> None:
    above = _line(["before", "every", "narrow", "shelf"], [16, 16, 16], 20)
    below = _line(["quiet", "volume", "of", "bound"], [16, 16, 16], 34)
    assert _tables([*above, *below]) == 0


@given(st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=4))
def test_html_says_every_cell(rows: list[list[str]]) -> None:
    table = Table.of_rows(rows)
    (grid,) = grids_of(str(render_table(table, "html")))
    assert [(cell.row, cell.column) for cell in grid] == [(c.row, c.column) for c in table.cells]
    assert [cell.text for cell in grid] == [" ".join(cell.text.split()) for cell in table.cells]
    assert len(grid) == table.height * table.width


@given(st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=4))
def test_markdown_has_as_many_fields_in_every_row(rows: list[list[str]]) -> None:
    lines = str(render_table(Table.of_rows(rows), "markdown")).splitlines()
    assert len(lines) == len(rows) + 1
    width = max(map(len, rows))
    for line in lines:
        assert line.replace("\\|", "").count("|") == width + 1


places = st.integers(0, 3)
cells = st.builds(Cell, texts, places, places, st.integers(1, 3), st.integers(1, 3))


@given(st.lists(cells, max_size=6))
def test_every_place_of_a_grid_belongs_to_one_cell(claimed: list[Cell]) -> None:
    table = Table.of(claimed)
    owned = [
        (row, column)
        for cell in table.cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    ]
    assert len(owned) == len(set(owned)) == table.height * table.width
