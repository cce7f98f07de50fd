"""Tagged PDFs: what their writers say of the text is believed where it can be true."""

from pathlib import Path

import pytest

from server.reading.conftest import Read
from support.tagged import Element, Picture, Text, tagged_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINES = [
    "The house at the end of the road has stood empty since the winter before last, and nobody",
    "in the village remembers who lived in it, or what became of the garden that it had once. A",
    "neighbour says that its key lies under a stone beside the well, where the children find it",
    "each summer, look at every room, and put it back before anyone has called them home.",
]
ROWS = [
    (["Office", "and town"], ["What is asked for", "in each year"], ["Paid"]),
    (["Harbour"], ["Dues of ships that stay", "over night, and of boats", "of members"], ["1 204"]),
    (["Mill", "and bakery"], ["Rent"], ["880"]),
    (["Lower", "school"], ["Wood and", "coal"], ["77"]),
]


def _block(kind: str, y: float, *lines: str, x: float = 72, size: float = 11) -> Element:
    return Element(kind, [Text(x, y - 14 * n, line, size) for n, line in enumerate(lines)])


def _table(apart: float = 0, *, one_row_a_line: bool = False) -> Element:
    rows, y = list[Element](), 700.0
    for number, row in enumerate(ROWS):
        kind = "TD" if number else "TH"
        cells = [
            [Text(x, y - 13 * n, line) for n, line in enumerate(lines)]
            for x, lines in zip((72, 180, 360), row, strict=True)
        ]
        y -= 13 * max(map(len, cells)) + apart
        if one_row_a_line:
            rows += (
                Element("TR", [Element(kind, [*cell[line : line + 1]]) for cell in cells])
                for line in range(max(map(len, cells)))
            )
        else:
            rows.append(Element("TR", [Element(kind, [*cell]) for cell in cells]))
    return Element("Table", rows)


async def test_cells_of_a_table_are_those_of_its_file(tmp_path: Path, read: Read) -> None:
    page = (_block("P", 760, *LINES), _table(), _block("P", 500, *LINES))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    assert told.markdown.split("\n\n")[1].splitlines() == [
        "| Office and town | What is asked for in each year | Paid |",
        "| --- | --- | --- |",
        "| Harbour | Dues of ships that stay over night, and of boats of members | 1 204 |",
        "| Mill and bakery | Rent | 880 |",
        "| Lower school | Wood and coal | 77 |",
    ]


def _dues(*, spans: bool = True) -> Element:
    def cell(x: float, y: float, text: str, span: str = "") -> Element:
        attributes = f"/A<</O/Table/{span}>>" if span and spans else ""
        return Element("TD" if y < 680 else "TH", [Text(x, y, text, 10)], attributes)

    rows = [
        [cell(72, 700, "Organism", "RowSpan 2"), cell(215, 700, "Mean of three years", "ColSpan 2")]
    ]
    rows[0].append(cell(380, 700, "Control", "RowSpan 2"))
    rows.append([cell(200, 686, "Dues"), cell(290, 686, "Rent")])
    rows.append([cell(72, 672, "Boats of the harbour", "ColSpan 4")])
    for y, texts in (
        (658, "Sails 244 442 20"),
        (644, "Oars 740 193 40"),
        (630, "Steam 320 551 12"),
    ):
        places = zip((72, 200, 290, 380), texts.split(), strict=True)
        rows.append([cell(x, y, text) for x, text in places])
    return Element("Table", [Element("TR", row) for row in rows])


async def test_spans_of_a_table_are_those_of_its_file(tmp_path: Path, read: Read) -> None:
    page = (_block("P", 790, *LINES), _dues(), _block("P", 560, *LINES))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page), table_format="html")).pages
    head, rest = told.tables[0].content.split("</th></tr><tr><td", 1)
    assert head == (
        '<table><tr><th rowspan="2">Organism</th><th colspan="2">Mean of three years</th>'
        '<th rowspan="2">Control</th></tr><tr><th>Dues</th><th>Rent'
    )
    assert rest.startswith(' colspan="4">Boats of the harbour</td></tr><tr><td>Sails</td><td>244<')


async def test_a_table_whose_writer_left_out_spans_is_as_it_looks(
    tmp_path: Path, read: Read
) -> None:
    page = (_block("P", 790, *LINES), _dues(spans=False), _block("P", 560, *LINES))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page), table_format="html")).pages
    [alone] = (
        await read(tagged_pdf(tmp_path / "b.pdf", *page, says=False), table_format="html")
    ).pages
    assert told.tables[0].content == alone.tables[0].content


async def test_rows_that_are_lines_are_no_rows(tmp_path: Path, read: Read) -> None:
    page = (_block("P", 760, *LINES), _table(14, one_row_a_line=True))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    assert "Mill and bakery" in told.markdown
    assert "What is asked for in each year" in told.markdown


async def test_lines_of_a_paragraph_are_joined_where_they_could_be_two(
    tmp_path: Path, read: Read
) -> None:
    label = _block("P", 700, "Figure of a house", "that stood empty", size=9)
    page = (_block("P", 760, *LINES), label, _block("P", 640, *LINES))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    [alone] = (await read(tagged_pdf(tmp_path / "b.pdf", *page, says=False))).pages
    assert told.markdown.split("\n\n")[1] == "Figure of a house that stood empty"
    assert told.markdown == alone.markdown.replace("house\n\nthat", "house that")


@pytest.mark.parametrize("whole", [False, True])
async def test_lines_that_are_paragraphs_and_one_paragraph_for_all_say_nothing(
    tmp_path: Path, read: Read, whole: bool
) -> None:
    lines = [
        Text(72, y - 14 * n, line) for y in (760, 690, 620, 550) for n, line in enumerate(LINES)
    ]
    page = [Element("P", [*lines])] if whole else [Element("P", [line]) for line in lines]
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    [alone] = (await read(tagged_pdf(tmp_path / "b.pdf", *page, says=False))).pages
    assert told.markdown == alone.markdown
    assert len(told.markdown.split("\n\n")) == 4


@pytest.mark.parametrize(("size", "marks"), [(24, "### # ###"), (14, "# ## #")])
async def test_headings_have_the_levels_of_their_file_where_larger_ones_are_higher(
    tmp_path: Path, read: Read, size: float, marks: str
) -> None:
    heads = (("H3", 780, 18), ("H1", 660, size), ("H3", 540, 18))
    page = [
        part
        for kind, y, large in heads
        for part in (_block(kind, y, f"The house at {y}", size=large), _block("P", y - 30, *LINES))
    ]
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    found = [line.split(" ")[0] for line in told.markdown.splitlines() if line.startswith("#")]
    assert found == marks.split()


async def test_a_figure_says_its_alternative_text_but_no_name_of_a_file(
    tmp_path: Path, read: Read
) -> None:
    said = Element("Figure", [Picture(72, 560, 90)], "/Alt(Visitors rise from May to July)")
    named = Element("Figure", [Picture(72, 440, 90)], "/Alt(visitors.png)")
    page = (_block("P", 760, *LINES), said, named)
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    _, first, text, second = told.markdown.split("\n\n")
    assert (first, text) == ("![img-0.jpeg](img-0.jpeg)", "Visitors rise from May to July")
    assert second == "![img-1.jpeg](img-1.jpeg)"


async def test_a_tree_without_end_costs_nothing_but_itself(tmp_path: Path, read: Read) -> None:
    deep = _block("P", 760, *LINES)
    for _ in range(300):
        deep = Element("Sect", [deep])
    cell = [Element("TR", [Element("TD", [Text(72, 600, "one")], "/A<</ColSpan 2147483647>>")])]
    page = (deep, Element("Table", [*cell]), _block("P", 500, *LINES))
    [told] = (await read(tagged_pdf(tmp_path / "a.pdf", *page))).pages
    assert told.markdown.split("\n\n")[0].startswith(LINES[0])
    assert len(told.markdown.split("\n\n")) == 3
