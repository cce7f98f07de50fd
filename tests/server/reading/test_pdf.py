"""PDFs with a text layer."""

from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.options import NoSuchPage, UnreadableDocument
from server.reading.conftest import Read
from support.documents import HEADER, LIST, TEXT, digital_pdf, page_pictures

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLE = "| Room | Seats | Floor |\n| --- | --- | --- |\n| North | 24 | 1 |\n| South | 36 | 2 |"
ITEMS = "\n".join(f"{number}. {item}" for number, item in enumerate(LIST, 1))


async def test_heading_paragraph_list_and_table_become_markdown(tmp_path: Path, read: Read) -> None:
    reading = await read(digital_pdf(tmp_path / "a.pdf", pages=2))
    assert [page.index for page in reading.pages] == [0, 1]
    assert reading.page_count == 2
    assert reading.size == (tmp_path / "a.pdf").stat().st_size
    assert reading.pages[1].markdown == "\n\n".join(
        ["# Rules of the Reading Room 2", TEXT, ITEMS, TABLE]
    )


async def test_a_text_layer_needs_no_ocr(tmp_path: Path, read: Read) -> None:
    reading = await read(digital_pdf(tmp_path / "a.pdf"))
    assert not reading.ocr_used


async def test_only_the_pages_asked_for_are_read_with_their_own_numbers(
    tmp_path: Path, read: Read
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=6)
    reading = await read(path, pages=[range(4, 5), range(1, 3), range(4, 5)])
    assert [page.index for page in reading.pages] == [4, 1, 2]
    assert [page.markdown.splitlines()[0][-1] for page in reading.pages] == ["5", "2", "3"]
    assert reading.page_count == 6


async def test_a_page_reads_the_same_alone_and_among_others(tmp_path: Path, read: Read) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    whole = await read(path, include_blocks=True, table_format="html")
    alone = await read(path, include_blocks=True, table_format="html", pages=[range(2, 3)])
    assert alone.pages == whole.pages[2:]


@pytest.mark.parametrize("first", [2, 10**9])
async def test_a_page_beyond_the_end_is_refused_by_number(
    tmp_path: Path, read: Read, first: int
) -> None:
    with pytest.raises(NoSuchPage, match=f"no page {first}: the document has 2 pages"):
        await read(digital_pdf(tmp_path / "a.pdf"), pages=[range(first, first + 1)])


async def test_more_pages_than_the_limit_are_refused(tmp_path: Path, read: Read) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=3)
    with pytest.raises(UnreadableDocument, match="3 pages are too many"):
        await read(path, page_limit=2)
    assert len((await read(path, page_limit=2, pages=[range(1, 3)])).pages) == 2


async def test_dimensions_are_whole_pixels(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(digital_pdf(tmp_path / "a.pdf", pages=1))).pages
    assert page.dimensions is not None
    assert page.dimensions.model_dump() == {"dpi": 200, "height": 2339, "width": 1654}


async def test_running_heads_leave_the_text_and_are_given_when_asked(
    tmp_path: Path, read: Read
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    (plain,) = (await read(path)).pages
    (asked,) = (await read(path, extract_header=True, extract_footer=True)).pages
    assert (plain.header, plain.footer) == (None, None)
    assert (asked.header, asked.footer) == (HEADER, "Page 1 of 1")
    assert asked.markdown == plain.markdown
    assert HEADER not in plain.markdown


@pytest.mark.parametrize(
    ("table_format", "name", "content"),
    [
        ("markdown", "tbl-1000.md", TABLE),
        (
            "html",
            "tbl-1000.html",
            "<table><tr><th>Room</th><th>Seats</th><th>Floor</th></tr>"
            "<tr><td>North</td><td>24</td><td>1</td></tr>"
            "<tr><td>South</td><td>36</td><td>2</td></tr></table>",
        ),
    ],
)
async def test_tables_are_taken_out_when_a_format_is_asked_for(
    tmp_path: Path, read: Read, table_format: str, name: str, content: str
) -> None:
    path = digital_pdf(tmp_path / "a.pdf")
    (page,) = (
        await read(path, pages=[range(1, 2)], table_format=table_format, granularity="word")
    ).pages
    (table,) = page.tables
    assert (table.id, table.format, table.content) == (name, table_format, content)
    assert page.markdown.endswith(f"\n\n[{name}]({name})")
    assert [word.text for word in table.word_confidence_scores or []][:3] == [
        "Room",
        "Seats",
        "Floor",
    ]
    for word in table.word_confidence_scores or []:
        assert content.startswith(word.text, word.start_index)


async def test_every_word_score_points_at_its_word(tmp_path: Path, read: Read) -> None:
    text = "Ténor — “naïve” quotes, 50 % off… and a fi ligature | pipe. " * 12
    (page,) = (
        await read(digital_pdf(tmp_path / "a.pdf", pages=1, text=text), granularity="word")
    ).pages
    scores = page.confidence_scores
    assert scores is not None
    assert scores.word_confidence_scores
    for word in scores.word_confidence_scores:
        assert page.markdown.startswith(word.text, word.start_index)
        assert word.confidence == 1.0
    spelled = " ".join(word.text.strip() for word in scores.word_confidence_scores)
    assert "Rules of the Reading Room 1 Ténor — “naïve” quotes" in spelled


async def test_scores_come_only_as_fine_as_asked_for(tmp_path: Path, read: Read) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    (none,) = (await read(path)).pages
    (by_page,) = (await read(path, granularity="page")).pages
    (by_block,) = (await read(path, granularity="block", include_blocks=True)).pages
    assert none.confidence_scores is None
    assert by_page.model_dump()["confidence_scores"] == {
        "average_page_confidence_score": 1.0,
        "minimum_page_confidence_score": 1.0,
    }
    assert by_block.blocks is not None
    scores = by_block.blocks[0].confidence_scores
    assert scores is not None
    assert scores.minimum_content_confidence_score == 1.0


async def test_blocks_are_typed_and_in_reading_order(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(digital_pdf(tmp_path / "a.pdf", pages=1), include_blocks=True)).pages
    assert page.blocks is not None
    assert [block.type for block in page.blocks] == [
        "header", "title", "text", "list", "table", "footer",
    ]  # fmt: skip
    assert page.blocks[1].content == "# Rules of the Reading Room 1"
    tops = [block.top_left_y for block in page.blocks]
    assert tops == sorted(tops, key=lambda top: top or 0)


async def test_a_block_box_holds_the_ink_of_its_text(tmp_path: Path, read: Read) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    (page,) = (await read(path, include_blocks=True)).pages
    assert page.blocks is not None
    title = page.blocks[1]
    box = (title.top_left_x, title.top_left_y, title.bottom_right_x, title.bottom_right_y)
    picture = page_pictures(path, dpi=200)[0].convert("L")
    ink = picture.crop((0, 180, 1654, 290)).point(lambda value: 255 * (value < 128)).getbbox()
    assert ink is not None
    left, top, right, bottom = ink
    assert None not in box
    assert box[0] is not None and box[0] - 8 <= left and right <= (box[2] or 0) + 8
    assert box[1] is not None and box[1] - 8 <= top + 180 and bottom + 180 <= (box[3] or 0) + 8


async def test_columns_are_read_one_after_the_other(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(180, 740, "A title across both columns")
    canvas.setFont("Helvetica", 10)
    for number in range(20):
        canvas.drawString(50, 700 - 12 * number, f"Left column line number {number} goes on and on")
        canvas.drawString(320, 703 - 12 * number, f"right column line number {number} to its end")
    canvas.drawString(
        50, 420, "Below, one line runs over the whole width of the page, as it should"
    )
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    places = [
        page.markdown.index(text)
        for text in ("A title", "Left column line number 0", "Left column line number 19",
                     "right column line number 0", "right column line number 19", "Below")
    ]  # fmt: skip
    assert places == sorted(places)


async def test_words_are_not_split_at_line_ends(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    for number, line in enumerate(["The librarian cata-", "logued every well-known", "book."]):
        canvas.drawString(50, 700 - 14 * number, line)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == "The librarian catalogued every well-known book."


async def test_code_keeps_its_indentation(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    canvas.drawString(50, 700, "The function below adds one to whatever number it is given.")
    canvas.setFont("Courier", 10)
    for number, line in enumerate(["def add(x):", "    if x:", "        return x + 1"]):
        canvas.drawString(60, 670 - 12 * number, line)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.endswith("```\ndef add(x):\n    if x:\n        return x + 1\n```")


async def test_links_are_listed(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    canvas.drawString(50, 700, "See the catalogue of the library for more than this.")
    canvas.linkURL("https://example.org/catalogue", (50, 690, 200, 712))
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.hyperlinks == ["https://example.org/catalogue"]


async def test_a_password_is_named_as_the_reason(tmp_path: Path, read: Read) -> None:
    lock = StandardEncryption("secret", canPrint=0)
    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt=lock)
    canvas.drawString(50, 700, "Nobody may read this.")
    canvas.save()
    with pytest.raises(UnreadableDocument, match="protected by a password"):
        await read(tmp_path / "a.pdf")


async def test_numbers_that_stand_alone_are_not_lost(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.drawString(72, 700, "The answer follows below, in the middle of the page.")
    canvas.drawString(300, 400, "42")
    canvas.drawString(300, 30, "7")
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf", extract_footer=True)).pages
    assert page.markdown == "The answer follows below, in the middle of the page.\n\n42"
    assert page.footer == "7"
