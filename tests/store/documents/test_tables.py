"""Tables as rows, CSV and Markdown."""

import csv

from hypothesis import given
from hypothesis import strategies as st

from carrel.server.reading.markdown.page_builder import render_table
from carrel.server.reading.page.table import Cell as ServerCell
from carrel.server.reading.page.table import LinkMark
from carrel.server.reading.page.table import Table as ServerTable
from carrel.store.documents.table_rows import as_csv, as_markdown, rows_of
from carrel.store.documents.tables import tables
from carrel.wire.ocr import PageTable, TableFormat
from support.pages import TABLE, lease_page

FORMS: tuple[TableFormat, ...] = ("markdown", "html")
CELLS = st.text("ab1 |,\"'é<-_*\\`[]()&;~", max_size=6).map(str.strip)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=5).map(tuple)
)


@given(ROWS)
def test_markdown_and_back_is_the_same_table(rows: tuple[tuple[str, ...], ...]) -> None:
    assert rows_of(as_markdown(rows)) == rows


@given(ROWS)
def test_csv_is_read_by_others(rows: tuple[tuple[str, ...], ...]) -> None:
    assert tuple(map(tuple, csv.reader(as_csv(rows).splitlines()))) == rows


@given(ROWS)
def test_every_form_that_the_server_writes_says_the_same(rows: tuple[tuple[str, ...], ...]) -> None:
    table = ServerTable.of_rows(rows)
    markdown, html = (rows_of(str(render_table(table, form))) for form in FORMS)
    read = tuple(map(tuple, csv.reader(as_csv(html).splitlines())))
    assert markdown == html == read == tuple(tuple(" ".join(c.split()) for c in r) for r in rows)


def test_a_link_in_a_cell_is_its_words_in_every_form() -> None:
    cell = ServerCell("see [1] and more", 0, 0, marks=(LinkMark(4, 7, "https://example.org/a"),))
    table = ServerTable.of([cell, ServerCell("b", 1, 0)])
    for form in FORMS:
        assert rows_of(str(render_table(table, form))) == (("see [1] and more",), ("b",))


def test_html_cells_over_several_columns_and_rows_leave_the_others_in_place() -> None:
    html = (
        "<table><thead><tr><th colspan=2>Rent<br>per year</th><th>Paid</th></tr></thead>"
        "<tr><td rowspan='2'>2024</td><td>1 &amp; 2</td><td>yes<tr><td>3</td><td>no</table>"
    )
    assert rows_of(html) == (
        ("Rent\nper year", "", "Paid"), ("2024", "1 & 2", "yes"), ("", "3", "no"),
    )  # fmt: skip


def test_a_hostile_span_is_bounded() -> None:
    many = "9" * 5000
    (row,) = rows_of(f"<table><tr><td colspan={many} rowspan=999999999>x</td></tr></table>")
    assert row[0] == "x" and len(row) == 100


def test_tables_are_found_in_blocks_apart_and_in_plain_text() -> None:
    page = lease_page()
    (in_block,) = tables(page)
    assert in_block.block == 2 and in_block.rows[1] == ("2024", "1,200.00")
    (plain,) = tables(page.model_copy(update={"blocks": None}))
    assert plain.rows == in_block.rows and plain.block is None
    apart = PageTable(id="t", content=TABLE, format="markdown")
    (found,) = tables(
        page.model_copy(update={"blocks": None, "markdown": "[t](t)", "tables": [apart]})
    )
    assert found.rows == in_block.rows
