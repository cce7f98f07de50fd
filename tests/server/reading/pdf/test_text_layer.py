"""The text layer as PDFium has it says what liteparse leaves out."""

import io
from collections import defaultdict
from pathlib import Path

import pypdfium2
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.pdf.liteparse import parse_pages
from carrel.server.reading.pdf.page_space import PageSpace
from carrel.server.reading.pdf.text_layer import correct_items
from support.gate import mapped_pdf


@pytest.mark.parametrize(("rest", "run_in"), [("Helvetica", True), ("Helvetica-Bold", False)])
def test_a_line_that_begins_in_bold_and_goes_on_in_plain_has_a_run_in_heading(
    rest: str, run_in: bool
) -> None:
    written = io.BytesIO()
    canvas = Canvas(written)
    text = canvas.beginText(72, 700)
    for font, words in (("Helvetica-Bold", "Rooms: "), (rest, "all of the halls are open")):
        text.setFont(font, 10)
        text.textOut(words)
    canvas.drawText(text)
    canvas.save()
    (parsed,) = parse_pages(written.getvalue(), [0])
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert [(item.text, item.run_in) for item in items] == [
        ("Rooms: all of the halls are open", run_in)
    ]


@pytest.mark.parametrize(
    "row",
    [[(72, "Bonus – in cash"), (300, "–"), (380, "–")], [(280, "–"), (300, "Or –")]],
    ids=["cells", "an ornament"],
)
def test_the_dashes_of_a_row_are_no_part_of_its_texts(row: list[tuple[float, str]]) -> None:
    written = io.BytesIO()
    canvas = Canvas(written)
    canvas.setFont("Helvetica", 10)
    for x, words in row:
        canvas.drawString(x, 700, words)
    canvas.save()
    (parsed,) = parse_pages(written.getvalue(), [0])
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert " ".join(item.text for item in items) == " ".join(words for _, words in row)


def test_text_that_is_never_drawn_is_not_missing() -> None:
    written = io.BytesIO()
    canvas = Canvas(written)
    for mode, y, words in ((0, 700, "The rooms are open"), (3, 650, "A note that nobody sees")):
        text = canvas.beginText(72, y)
        text.setFont("Helvetica", 10)
        text.setTextRenderMode(mode)
        text.textOut(words)
        canvas.drawText(text)
    canvas.save()
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        _, missing = correct_items([], page.get_textpage(), PageSpace(page))
    assert [line.text for line in missing] == ["The rooms are open"]


def test_signs_that_fonts_give_the_codes_of_letters_or_of_nothing_are_restored() -> None:
    written = io.BytesIO()
    canvas = Canvas(written, pageCompression=0)
    for y, runs in (
        (700, [("Courier-Oblique", "N"), ("Helvetica", "   Tata Medical Centre")]),
        (680, [("Helvetica", "Spent "), ("Times-Italic", "H"), ("Helvetica", "583.03 by J Hall")]),
        (660, [("Helvetica", "(in "), ("Times-Italic", "J"), ("Helvetica", ") N Street")]),
        (640, [("Helvetica", "~ Sales automation by ^prime")]),
        (620, [("Courier-Oblique", "o"), ("Helvetica", "   Post")]),
    ):
        text = canvas.beginText(72, y)
        for font, words in runs:
            text.setFont(font, 10)
            text.textOut(words)
        canvas.drawText(text)
    canvas.save()
    data = written.getvalue()
    # Names and codes as long as those that are there: the file stays whole.
    for there, wanted in (
        (b"Courier-Oblique", b"ABCDE+Wingdings"),
        (b"Times-Italic", b"ITFRupeeBook"),
        (b"~ Sales", b"\x05 Sales"),
        (b"^prime", b"\x06prime"),
    ):
        assert there in data
        data = data.replace(there, wanted)
    (parsed,) = parse_pages(data, [0])
    with pypdfium2.PdfDocument(data) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert [item.text for item in items] == [
        "• Tata Medical Centre",
        "Spent ₹583.03 by J Hall",
        "(in ₹) N Street",
        "• Sales automation by �prime",
        "☐ Post",
    ]


@pytest.mark.parametrize("title", ["Rooms", "Rooms that are open in the summer"])
def test_leaders_are_missing_apart_from_what_they_lead_from(title: str) -> None:
    written = io.BytesIO()
    canvas = Canvas(written, A4)
    canvas.setFont("Helvetica", 10)
    dots = f" {'. ' * 30}"
    canvas.drawString(72, 700, title + dots)
    canvas.drawString(400, 700, "7")
    canvas.save()
    width = canvas.stringWidth(title, "Helvetica", 10)
    top = A4[1] - 710
    items = [
        TextItem(text, x, top, wide, 12, 0, "Helvetica", 10, [])
        for text, x, wide in ((title, 72, width), ("7", 400, 6))
    ]
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        _, missing = correct_items(items, page.get_textpage(), PageSpace(page))
    assert [line.text for line in missing] == ["…"]
    (line,) = missing
    assert line.box.left > 72 + width
    assert line.box.right < 400


def test_the_raised_digits_of_a_power_of_ten_are_an_exponent() -> None:
    written = io.BytesIO()
    canvas = Canvas(written)
    x = 72.0
    for text, size, up in (
        ("Each well held about 5 × 10", 10, 0),
        ("5", 6, 4),
        (" cells, and we counted 3 × 105 of the 105 plates.", 10, 0),
    ):
        canvas.setFont("Times-Roman", size)
        canvas.drawString(x, 700 + up, text)
        x += canvas.stringWidth(text, "Times-Roman", size)
    canvas.save()
    (parsed,) = parse_pages(written.getvalue(), [0])
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    said = " ".join(" ".join(item.text for item in items).split())
    assert said.replace("$ ", "$") == (
        "Each well held about 5 × $10^{5}$cells, and we counted 3 × 105 of the 105 plates."
    )


@pytest.mark.parametrize(
    ("font", "said"),
    [
        ("AdvPS7DA6", "−1.1 points = loss/hour"),
        ("AdvP4C4E7", "21.1 points = loss/hour"),
        ("AdvOT4C4E", "21.1 points ¼ loss=hour"),
    ],
)
def test_signs_in_the_fonts_of_a_typesetter_of_journals(font: str, said: str) -> None:
    written = io.BytesIO()
    canvas = Canvas(written, pageCompression=0)
    canvas.setFont("Helvetica", 10)
    canvas.drawString(72, 700, "21.1 points ¼ loss=hour")
    canvas.save()
    named = written.getvalue().replace(b"/BaseFont /Helvetica ", f"/BaseFont /{font} ".encode())
    (parsed,) = parse_pages(named, [0])
    with pypdfium2.PdfDocument(named) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert [item.text for item in items] == [said]


def test_a_glyph_without_a_letter_is_marked_in_a_missing_line() -> None:
    written = io.BytesIO()
    canvas = Canvas(written, pageCompression=0)
    canvas.setFont("Helvetica", 10)
    canvas.drawString(72, 700, "The margin 1~a of the error")
    canvas.save()
    with pypdfium2.PdfDocument(written.getvalue().replace(b"1~a", b"1\x01a")) as document:
        page = document[0]
        _, missing = correct_items([], page.get_textpage(), PageSpace(page))
    assert [line.text for line in missing] == ["The margin 1\ufffda of the error"]


@pytest.mark.parametrize(("font", "said"), [("SymbolMT", "Ω"), ("WebdingsMT", "\uf057")])
def test_signs_of_the_font_symbol_are_what_they_look_like(
    tmp_path: Path, font: str, said: str
) -> None:
    path = mapped_pdf(tmp_path / "a.pdf", lambda code: 0xF000 + code, "W")
    name = b"BitstreamVeraSans-Roman"
    data = path.read_bytes().replace(name, font.encode().ljust(len(name), b"x"))
    (parsed,) = parse_pages(data, [0])
    with pypdfium2.PdfDocument(data) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert items[0].text == said


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ("P (a) = 12 (c)", ["P(a)=12(c)"]),
        ("a long line of letters\nmean\n12", ["alonglineofletters", "mean", "12"]),
    ],
)
def test_letters_of_a_formula_are_restored_and_given_once(
    tmp_path: Path, stamp: str, said: list[str]
) -> None:
    path = mapped_pdf(
        tmp_path / "a.pdf",
        lambda code: code + 0x1D44E - ord("a") if chr(code).islower() else code,
        stamp,
    )
    (parsed,) = parse_pages(path.read_bytes(), [0])
    with pypdfium2.PdfDocument(path) as document:
        page = document[0]
        items, missing = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    texts = [(item.box, item.text) for item in items] + [(line.box, line.text) for line in missing]
    rows = defaultdict[int, str](str)
    for box, text in sorted(texts):
        rows[round(box.bottom / 12)] += text.replace(" ", "")
    assert [text for _, text in sorted(rows.items())][: len(said)] == said


def test_a_dash_between_lines_that_are_set_close_is_restored() -> None:
    written = io.BytesIO()
    canvas = Canvas(written)
    canvas.setFont("Times-Roman", 12)
    for number, line in enumerate(("a software-", "led, good company—", "joining", "both")):
        canvas.drawString(72, 700 - 10 * number, line)
    canvas.save()
    (parsed,) = parse_pages(written.getvalue(), [0])
    with pypdfium2.PdfDocument(written.getvalue()) as document:
        page = document[0]
        items, _ = correct_items(parsed.items, page.get_textpage(), PageSpace(page))
    assert "led, good company—" in [item.text for item in items]
