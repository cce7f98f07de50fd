"""PDFs with a text layer."""

from pathlib import Path

import pypdfium2
import pytest
from markdown_it import MarkdownIt
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfdoc import PDFString
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.pdfgen.pathobject import PDFPathObject

from carrel.server.reading.options import NoSuchPage, UnreadableDocument
from server.reading.conftest import Read
from support import requires
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
        [HEADER, "# Rules of the Reading Room 2", TEXT, ITEMS, TABLE, "Page 2 of 2"]
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
    assert [page.markdown.splitlines()[2][-1] for page in reading.pages] == ["5", "2", "3"]
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


async def test_running_heads_stay_in_the_text_unless_they_are_asked_for(
    tmp_path: Path, read: Read
) -> None:
    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    (plain,) = (await read(path, granularity="word")).pages
    (asked,) = (await read(path, extract_header=True, extract_footer=True)).pages
    (half,) = (await read(path, extract_footer=True)).pages
    assert (plain.header, plain.footer) == (None, None)
    assert (asked.header, asked.footer) == (HEADER, "Page 1 of 1")
    assert (half.header, half.footer) == (None, "Page 1 of 1")
    assert plain.markdown == f"{HEADER}\n\n{asked.markdown}\n\nPage 1 of 1"
    assert half.markdown == f"{HEADER}\n\n{asked.markdown}"
    assert plain.confidence_scores is not None
    assert (plain.confidence_scores.word_confidence_scores or [])[0].text == "Library"


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
    assert f"\n\n[{name}]({name})\n\n" in page.markdown
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
    (none,) = (await read(path, granularity=None)).pages
    (by_page,) = (await read(path, granularity="page")).pages
    (by_block,) = (await read(path, granularity="block", include_blocks=True)).pages
    assert none.confidence_scores is None
    assert by_page.model_dump()["confidence_scores"] == {
        "average_page_confidence_score": 1.0,
        "minimum_page_confidence_score": 1.0,
        "order_confidence_score": pytest.approx(0.93, abs=0.06),
        "structure_confidence_score": 0.995,
        "text_from_file": True,
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


async def test_links_are_listed_and_stand_in_the_text(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    words = "See the catalogue of the library, and ask here."
    canvas.drawString(50, 700, words)

    def link(text: str, url: str) -> None:
        left = 50 + stringWidth(words[: words.index(text)], "Helvetica", 12)
        canvas.linkURL(url, (left, 690, left + stringWidth(text, "Helvetica", 12), 712))

    link("the catalogue", "https://example.org/(a)")
    link("here.", "javascript:alert(1)")
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.hyperlinks == ["https://example.org/(a)", "javascript:alert(1)"]
    assert page.markdown == (
        "See [the catalogue](https://example.org/%28a%29) of the library, and ask here."
    )


@pytest.mark.parametrize(
    "ruled",
    [
        True,
        pytest.param(
            False,
            marks=pytest.mark.xfail(
                reason="the page model takes a table of six short words without rules for text"
            ),
        ),
    ],
)
async def test_links_in_a_table_stay_in_their_cells(
    tmp_path: Path, read: Read, ruled: bool
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 400))
    canvas.setFont("Helvetica", 10)
    for row, texts in enumerate([("Room", "Where"), ("North", "up the stairs"), ("South", "map")]):
        for column, text in enumerate(texts):
            canvas.drawString(55 + 200 * column, 345 - 20 * row, text)
    if ruled:
        canvas.grid([50, 250, 450], [360, 340, 320, 300])
    left = 255 + stringWidth("up ", "Helvetica", 10)
    canvas.linkURL("https://example.org/up", (left, 322, 255 + 100, 335))
    canvas.linkURL("https://example.org/map", (255, 302, 290, 315))
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.splitlines()[2:] == [
        "| North | up [the stairs](https://example.org/up) |",
        "| South | [map](https://example.org/map) |",
    ]
    assert len(page.hyperlinks) == 2


def _note_page(path: Path, note: str) -> Path:
    """A page with a raised 1 in its text, and `note` in small print at its foot."""
    canvas = Canvas(str(path), pagesize=(600, 800))
    canvas.setFont("Helvetica", 10)
    canvas.drawString(50, 700, "The rooms of the library are open to all who read.")
    text = canvas.beginText(50, 688)
    text.textOut("They open at nine")
    text.setRise(4)
    text.setFont("Helvetica", 7)
    text.textOut("1")
    text.setRise(0)
    text.setFont("Helvetica", 10)
    text.textOut(" and close at eight.")
    canvas.drawText(text)
    canvas.setFont("Helvetica", 7)
    canvas.drawString(50, 100, note)
    canvas.save()
    return path


async def test_a_raised_number_leads_to_its_footnote(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(_note_page(tmp_path / "a.pdf", "1 Except on Sundays."))).pages
    assert page.markdown == (
        "The rooms of the library are open to all who read."
        " They open at nine[^1] and close at eight.\n\n[^1]: Except on Sundays."
    )


async def test_a_raised_number_without_a_footnote_is_a_number(tmp_path: Path, read: Read) -> None:
    (page,) = (await read(_note_page(tmp_path / "a.pdf", "Printed in the house."))).pages
    assert "They open at nine1 and close at eight." in page.markdown


@pytest.mark.parametrize("turn", [90, 180, 270])
@pytest.mark.parametrize("by", ["content", "page"])
async def test_a_turned_page_reads_like_an_upright_one(
    tmp_path: Path, read: Read, turn: int, by: str
) -> None:
    def draw(path: Path, turn: int) -> Path:
        canvas = Canvas(str(path), pagesize=(600, 600))
        if by == "page":
            canvas.setPageRotation(turn)
        canvas.translate(300, 300)
        canvas.rotate(turn if by == "page" else -turn)
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(-250, 240, "A turned page")
        canvas.setFont("Helvetica", 11)
        for number in range(9):
            canvas.drawString(-250, 200 - 14 * number, f"Line {number} of the “turned” page goes")
        canvas.drawString(0, -200, "42")
        canvas.save()
        return path

    (upright,) = (await read(draw(tmp_path / "upright.pdf", 0), include_blocks=True)).pages
    (turned,) = (await read(draw(tmp_path / "turned.pdf", turn), include_blocks=True)).pages
    assert "“turned”" in upright.markdown and upright.markdown.endswith("42")
    assert turned.markdown == upright.markdown
    assert upright.blocks and turned.blocks
    side = 1667
    for one, other in zip(upright.blocks, turned.blocks, strict=True):
        left, top, right, bottom = (
            one.top_left_x, one.top_left_y, one.bottom_right_x, one.bottom_right_y
        )  # fmt: skip
        assert left is not None and top is not None and right is not None and bottom is not None
        for _ in range(turn // 90 if by == "content" else 0):
            left, top, right, bottom = side - bottom, left, side - top, right
        found = (
            other.top_left_x, other.top_left_y, other.bottom_right_x, other.bottom_right_y
        )  # fmt: skip
        assert found == pytest.approx((left, top, right, bottom), abs=3)


async def test_text_from_right_to_left_is_in_the_order_of_reading(
    tmp_path: Path, read: Read
) -> None:
    pdfmetrics.registerFont(TTFont("Hebrew", requires.dejavu()))
    lines = ["שלום עולם, זהו טקסט בעברית שנכתב מימין", "לשמאל, והוא נמשך בשורה השנייה."]
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    canvas.setFont("Hebrew", 20)
    canvas.drawRightString(550, 740, "כותרת ראשית"[::-1])
    canvas.setFont("Hebrew", 12)
    for number, line in enumerate(lines):
        canvas.drawRightString(550, 700 - 16 * number, line[::-1])
    for number in range(12):
        canvas.drawRightString(290, 600 - 16 * number, "טור שמאלי ממשיך כאן אחרי הימני"[::-1])
        canvas.drawRightString(550, 600 - 16 * number, "טור ימני קודם לטור השמאלי בדף"[::-1])
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.startswith("# כותרת ראשית\n\n" + " ".join(lines))
    assert page.markdown.index("טור ימני") < page.markdown.index("טור שמאלי")


async def test_numbers_of_a_list_stay_where_some_are_left_out(tmp_path: Path, read: Read) -> None:
    items = ["1. Dahlias in a vase", "2. Roses of any kind", "7. Tomatoes with leaves", "8. Leeks"]
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.drawString(72, 740, "These are the classes of the show, by their numbers in the book:")
    for number, item in enumerate(items):
        canvas.drawString(72, 720 - 16 * number, item)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    shown = MarkdownIt().render(page.markdown)
    assert '<ol start="7">\n<li>Tomatoes with leaves</li>\n<li>Leeks' in shown


@pytest.mark.parametrize("below", [False, True])
async def test_a_text_layer_that_is_not_seen_is_not_believed(
    tmp_path: Path, read: Read, below: bool
) -> None:
    (picture,) = page_pictures(digital_pdf(tmp_path / "source.pdf", pages=1), dpi=120)
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    text = canvas.beginText(72, 700)
    text.setTextRenderMode(0 if below else 3)
    text.textLine("Tbe readlng rOom opcns sw | \\ 400 +")
    if below:
        canvas.drawText(text)
    canvas.drawInlineImage(picture, 0, 0, 595, 842)
    if not below:
        canvas.drawText(text)
    canvas.save()
    reading = await read(tmp_path / "a.pdf")
    assert reading.ocr_used
    assert "opcns" not in reading.pages[0].markdown
    assert TEXT.split(". ")[0] in reading.pages[0].markdown


async def test_an_invisible_text_layer_in_another_script_is_believed(
    tmp_path: Path, read: Read
) -> None:
    (picture,) = page_pictures(digital_pdf(tmp_path / "source.pdf", pages=1), dpi=120)
    pdfmetrics.registerFont(TTFont("Cyrillic", requires.dejavu()))
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.drawInlineImage(picture, 0, 0, 595, 842)
    said = "Читальный зал открыт ежедневно с девяти часов утра"
    for number in range(30):
        text = canvas.beginText(72, 770 - 24 * number)
        text.setFont("Cyrillic", 14)
        text.setTextRenderMode(3)
        text.textLine(said + " ." * 40)
        canvas.drawText(text)
    canvas.save()
    assert said in (await read(tmp_path / "a.pdf")).pages[0].markdown


async def test_a_soft_hyphen_within_a_line_is_drawn(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    pdfmetrics.registerFont(TTFont("Hyphen", requires.dejavu()))
    canvas.setFont("Hyphen", 12)
    canvas.drawString(72, 700, "Front\xadend engineer, 2013 \xad 2017, in a multi\xadmaster team.")
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == "Front-end engineer, 2013 - 2017, in a multi-master team."


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


@pytest.mark.parametrize("turn", [0, 90])
async def test_a_picture_inside_a_form_is_where_the_form_is_drawn(
    tmp_path: Path, read: Read, turn: int
) -> None:
    Image.new("RGB", (100, 50), (200, 30, 30)).save(tmp_path / "red.png")
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(720, 720))
    canvas.setPageRotation(turn)
    for number in range(3):
        canvas.drawString(72, 660 - 14 * number, f"Line {number} says something about the picture.")
    canvas.beginForm("stamp", 0, 0, 200, 100)
    canvas.drawImage(str(tmp_path / "red.png"), 20, 10, 100, 50)
    canvas.endForm()
    canvas.translate(72, 144)
    canvas.scale(0.5, 0.5)
    canvas.doForm("stamp")
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    (image,) = page.images
    place = (image.top_left_x, image.top_left_y, image.bottom_right_x, image.bottom_right_y)
    points = (82, 546, 132, 571) if turn == 0 else (149, 82, 174, 132)
    expected = [point * 200 / 72 for point in points]
    assert all(
        other is not None and abs(one - other) <= 1
        for one, other in zip(expected, place, strict=True)
    )


@pytest.mark.parametrize(("pages", "header"), [(6, "AX-77 Light Sensor"), (3, None)])
async def test_a_running_head_of_very_many_pages_may_look_like_a_title(
    tmp_path: Path, read: Read, pages: int, header: str | None
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(500, 700))
    for _ in range(pages):
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(60, 650, "AX-77 Light Sensor")
        canvas.setFont("Helvetica", 10)
        for number in range(20):
            canvas.drawString(60, 590 - 14 * number, TEXT[:80])
        canvas.showPage()
    canvas.save()
    reading = await read(tmp_path / "a.pdf", extract_header=True)
    assert [page.header for page in reading.pages] == pages * [header]


async def test_a_picture_is_as_large_as_what_is_shown_of_it(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(500, 700))
    for number in range(8):
        canvas.drawString(72, 640 - 14 * number, f"Line {number} says something about the picture.")
    canvas.saveState()
    canvas.clipPath(_frame(canvas, 100, 300, 200, 150), stroke=0)
    canvas.drawInlineImage(Image.new("RGB", (100, 140), (40, 90, 60)), 0, 0, 500, 700)
    canvas.restoreState()
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    (image,) = page.images
    place = (image.top_left_x, image.top_left_y, image.bottom_right_x, image.bottom_right_y)
    assert place == pytest.approx([edge * 200 / 72 for edge in (100, 250, 300, 400)], abs=1)


def _frame(canvas: Canvas, *place: float) -> PDFPathObject:
    path = canvas.beginPath()
    path.rect(*place)
    return path


def _figure_in_a_tale(folder: Path) -> Path:
    Image.new("RGB", (170, 150), (40, 90, 60)).save(folder / "figure.png")
    canvas = Canvas(str(folder / "a.pdf"), pagesize=(500, 700))
    canvas.drawImage(str(folder / "figure.png"), 50, 450, 170, 150)
    canvas.setFont("Helvetica", 12)
    for number in range(14):
        # The first line reaches over the figure.
        canvas.drawString(
            225 if number else 200, 590 - 14 * number, f"line {number} of the tale and"
        )
    canvas.setFont("Helvetica", 8)
    canvas.drawCentredString(135, 440, "THE READER")
    canvas.drawCentredString(135, 431, "AT HOME")
    canvas.save()
    return folder / "a.pdf"


async def test_a_figure_beside_a_paragraph_keeps_its_caption_and_parts_no_sentence(
    tmp_path: Path, read: Read
) -> None:
    (page,) = (await read(_figure_in_a_tale(tmp_path))).pages
    tale = " ".join(f"line {number} of the tale and" for number in range(14))
    assert page.markdown == f"![img-0.jpeg](img-0.jpeg)\n\nTHE READER AT HOME\n\n{tale}"


@pytest.mark.xfail(reason="the page model takes two lines in capitals below a figure for text")
async def test_two_lines_in_capitals_below_a_figure_are_its_caption(
    tmp_path: Path, read: Read
) -> None:
    (page,) = (await read(_figure_in_a_tale(tmp_path), include_blocks=True)).pages
    assert [block.type for block in page.blocks or []] == ["image", "caption", "text"]


async def test_a_line_between_columns_makes_no_table_of_them(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.setFont("Helvetica", 10)

    def column(name: str, left: float, top: float) -> str:
        lines = [f"{name} {number} of narrow text fills it here" for number in range(8)]
        for number, line in enumerate(lines):
            canvas.drawString(left, top - 14 * number, line)
        return " ".join(lines)

    texts = [column("left a", 60, 760), column("right a", 310, 760)]
    canvas.drawCentredString(297, 640, "A short line between the columns here")
    texts += ["A short line between the columns here"]
    texts += [column("left b", 60, 620), column("right b", 310, 620)]
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == "\n\n".join(texts)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
async def test_what_lies_outside_the_crop_box_is_not_on_the_page(
    tmp_path: Path, read: Read, rotation: int
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(500, 700))
    for place, text in {
        (10, 680): "Signature 7 above",
        (10, 10): "Signature 7 below",
        (420, 300): "Trim",
        (110, 600): "The first line of the page",
        (110, 300): "The last line of the page",
        (26, 440): "Printer mark and text",
    }.items():
        canvas.drawString(*place, text)
    for left in (10, 120, 410):
        canvas.rect(left, 500, 80, 60)
        canvas.linkURL(f"https://example.org/{left}", (left, 290, left + 60, 310))
    canvas.setCropBox((100, 100, 400, 650))
    canvas.save()
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        document[0].set_rotation(rotation)
        document.save(tmp_path / "b.pdf")
    [page] = (await read(tmp_path / "b.pdf")).pages
    assert page.markdown.split("\n\n") == [
        "The first line of the page",
        "and text",
        "[The last line](https://example.org/120) of the page",
    ]
    assert page.hyperlinks == ["https://example.org/120"]


async def test_arabic_is_read_in_logical_order_with_its_numbers_and_latin_words(
    tmp_path: Path, read: Read
) -> None:
    pdfmetrics.registerFont(TTFont("dejavu", str(requires.dejavu())))
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.setFont("dejavu", 12)
    # As it is seen from the left, in the forms that the letters have in their words.
    seen = (
        "(17:30 \ufef0\ufedf\ufe87 9:00 \ufee6\ufee3) Carrel Desk \ufef2\ufed3 12,500"
        " \ufe90\ufe98\ufedb",
        "\ufefb \ufe8f\ufe8e\ufe98\ufedb",
    )
    for number, text in enumerate(seen):
        canvas.drawRightString(520, 700 - 40 * number, text)
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.split("\n\n") == [
        "كتب 12,500 في Carrel Desk (من 9:00 إلى 17:30)",
        "كتاب لا",
    ]


async def test_the_right_column_of_a_hebrew_table_is_its_first(tmp_path: Path, read: Read) -> None:
    pdfmetrics.registerFont(TTFont("dejavu", str(requires.dejavu())))
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    canvas.setFont("dejavu", 12)
    rows = (("שנה", "ספרים", "קוראים"), ("2023", "1,200", "350"), ("2024", "1,450", "410"))
    for number, row in enumerate(rows):
        for right, text in zip((500, 380, 260), row, strict=True):
            seen = text if text[0].isdigit() else text[::-1]
            canvas.drawRightString(right, 693 - 30 * number, seen)
    for x in (150, 270, 390, 510):
        canvas.line(x, 620, x, 710)
    for y in (620, 650, 680, 710):
        canvas.line(150, y, 510, y)
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    lines = [" | ".join(row) for row in (rows[0], ("---",) * 3, *rows[1:])]
    assert page.markdown == "\n".join(f"| {line} |" for line in lines)


async def test_comments_stand_below_the_text_with_their_authors(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(72, 700, "The reading room opens at nine on every day.")
    canvas.textAnnotation("At ten\nin winter?", (300, 690, 320, 710), T=PDFString("Ada"))
    canvas.textAnnotation("", (330, 690, 350, 710), T=PDFString("Ada"))
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == (
        "The reading room opens at nine on every day.\n\nAda: At ten in winter?"
    )
