"""Whether a page's text comes from its text layer, from OCR, or from both."""

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.pdf.garbage import is_garbage
from server.reading.conftest import Read
from support.documents import TEXT, digital_pdf, page_pictures
from support.gate import (
    SENTENCES,
    chart,
    flow_chart,
    mapped_pdf,
    outlines,
    photograph,
    placed,
    prose,
    text_picture,
)

read_with_ocr = pytest.mark.asyncio(loop_scope="module")

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas], None]


def _white_on_a_photograph(canvas: Canvas) -> None:
    canvas.drawInlineImage(photograph(), 0, 0, WIDTH, HEIGHT)
    canvas.setFillGray(1)
    prose(canvas, 760, 12)


def _with(picture: Callable[[], object], width: float) -> Draw:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 760, 6)
        placed(canvas, picture(), 72, 200, width)  # type: ignore[arg-type]

    return draw


def _labels_on_a_picture(canvas: Canvas) -> None:
    placed(canvas, photograph(900, 900), 72, 200, 450)
    for number in range(12):
        canvas.drawString(100 + 30 * number, 300 + 20 * number, f"Room {number}")


def _frames(canvas: Canvas) -> None:
    for number in range(8):
        canvas.roundRect(80 + 120 * (number % 4), 300 + 60 * (number // 4), 100, 40, 8)
        canvas.drawCentredString(130 + 120 * (number % 4), 315 + 60 * (number // 4), "Ministry")
    prose(canvas, 760, 6)


def _coordinates(canvas: Canvas) -> None:
    for number in range(4):
        canvas.drawString(72, 700 - 120 * number, 'LAT: N 38° 32’ 39.64"   LNG: W 121° 44’ 22.43"')


@read_with_ocr
@pytest.mark.parametrize(
    "draw",
    [
        _with(photograph, 450),
        _with(chart, 450),
        _with(lambda: text_picture(300, 1), 100),
        _white_on_a_photograph,
        _labels_on_a_picture,
        _frames,
        _coordinates,
    ],
    ids=["photograph", "chart", "logo", "background", "labels", "frames", "coordinates"],
)
async def test_a_good_text_layer_is_enough(tmp_path: Path, read: Read, draw: Draw) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    draw(canvas)
    canvas.save()
    assert not (await read(tmp_path / "a.pdf")).ocr_used


def _scan_with_a_stamp(canvas: Canvas) -> None:
    canvas.drawInlineImage(text_picture(1200, 26), 0, 0, WIDTH, HEIGHT)
    canvas.drawString(400, 820, "Received 4 May 2026")


def _scan_of_another_file_with_a_stamp(canvas: Canvas) -> None:
    canvas.beginForm("page", 0, 0, WIDTH, HEIGHT)
    canvas.drawInlineImage(text_picture(1200, 26), 0, 0, WIDTH, HEIGHT)
    canvas.endForm()
    canvas.doForm("page")
    canvas.drawString(400, 820, "Received 4 May 2026")
    canvas.drawString(72, 20, "Stored in the register of the office, number 4471, for ten years")


def _scan_with_a_stamp_along_its_edge(canvas: Canvas) -> None:
    _scan_with_a_stamp(canvas)
    canvas.rotate(90)
    canvas.drawString(100, -20, "Stored by the office and to be printed for its needs, rule 43 c")


def _outlines(canvas: Canvas) -> None:
    canvas.drawString(72, 780, "Drawn by a program")
    outlines(canvas, 72, 400, 400)


@read_with_ocr
@pytest.mark.parametrize(
    ("draw", "known"),
    [
        (_with(text_picture, 450), SENTENCES[0]),
        (_with(lambda: text_picture(paper="navy"), 450), SENTENCES[0]),
        (_scan_with_a_stamp, "Received 4 May 2026"),
        (_scan_of_another_file_with_a_stamp, "Received 4 May 2026"),
        (_scan_with_a_stamp_along_its_edge, "Received 4 May 2026"),
        (_outlines, "Drawn by a program"),
    ],
    ids=[
        "picture",
        "white on blue",
        "stamp",
        "stamp on a form",
        "stamp along the edge",
        "outlines",
    ],
)
async def test_what_is_only_drawn_is_read_and_what_is_written_is_not_read_again(
    tmp_path: Path, read: Read, draw: Draw, known: str
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    draw(canvas)
    canvas.save()
    reading = await read(tmp_path / "a.pdf", extract_header=True)
    assert reading.ocr_used
    (page,) = reading.pages
    text = " ".join(f"{page.header or ''} {page.markdown}".split())
    # The picture has a sentence more often than the text layer, which has the line that is known.
    sentence = SENTENCES[1]
    assert text.count(sentence) > 1 or known not in SENTENCES
    assert sentence in text
    assert known in text
    scores = page.confidence_scores
    assert scores is not None and scores.word_confidence_scores
    certain = [word.confidence for word in scores.word_confidence_scores]
    assert 1.0 in certain or page.header
    assert min(certain) < 1.0


@read_with_ocr
async def test_the_words_in_an_inset_picture_are_its_labels(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    prose(canvas, 760, 6)
    placed(canvas, flow_chart(), 150, 250, 300)
    canvas.save()
    reading = await read(tmp_path / "a.pdf", include_blocks=True)
    blocks = reading.pages[0].blocks or []
    assert reading.ocr_used
    assert [block.type for block in blocks if block.type != "text"] == ["image", "aside_text"]
    assert "Step 9 of the yearly count" in blocks[-1].content


@read_with_ocr
async def test_a_table_under_a_picture_of_itself_is_read_once(tmp_path: Path, read: Read) -> None:
    source = digital_pdf(tmp_path / "source.pdf", pages=1)
    (picture,) = page_pictures(source)
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.drawInlineImage(picture.crop((0, 0, picture.width, 700)), 0, HEIGHT - 336, WIDTH, 336)
    prose(canvas, 400, 4)
    canvas.save()
    (page,) = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.count("| North | 24 | 1 |") == 1


@read_with_ocr
@pytest.mark.parametrize("lines", [12, 2], ids=["page", "few words"])
async def test_letters_without_a_meaning_are_read_from_the_page(
    tmp_path: Path, read: Read, lines: int
) -> None:
    path = mapped_pdf(tmp_path / "a.pdf", lambda code: 0xF000 + code, lines=lines)
    reading = await read(path)
    assert reading.ocr_used
    assert SENTENCES[1] in reading.pages[0].markdown


@read_with_ocr
async def test_a_stamp_in_a_broken_font_is_read_from_the_page_and_the_rest_from_the_file(
    tmp_path: Path, read: Read
) -> None:
    stamp = "Envelope number 2DFE1ADC-8372-4DF1-9885-04AAA44E9D91"
    path = mapped_pdf(tmp_path / "a.pdf", lambda code: code - 29, stamp)
    (page,) = (await read(path)).pages
    assert page.markdown.split("\n\n")[0] == stamp
    assert SENTENCES[1] in page.markdown
    scores = page.confidence_scores
    assert scores is not None and scores.word_confidence_scores
    read_in, written = (
        [word.confidence for word in scores.word_confidence_scores if (word.text in stamp) is own]
        for own in (True, False)
    )
    assert min(read_in) < 1.0
    assert set(written) == {1.0}


@read_with_ocr
async def test_lines_in_a_broken_font_stay_lines_and_their_letters_are_not_given_too(
    tmp_path: Path, read: Read
) -> None:
    path = mapped_pdf(tmp_path / "a.pdf", lambda code: code - 29, "Ordering\nnumber 20 + 2 + 2")
    (page,) = (await read(path)).pages
    said = page.markdown.replace("\\", "").split()
    assert said[:8] == ["Ordering", "number", "20", "+", "2", "+", "2", SENTENCES[0].split()[0]]


LONG = 4 * f"{TEXT} "


@pytest.mark.parametrize(
    "letter",
    [
        lambda code: 0xFFFD,
        lambda code: 0xF000 + code,
        lambda code: code + 1,
        lambda code: code - 29,
        lambda code: code + 0x80,
        lambda code: 33 + code * 7 % 90,
    ],
    ids=["unmapped", "private", "next", "glyph numbers", "accents", "mixed"],
)
def test_a_wrong_mapping_makes_garbage(letter: Callable[[int], int]) -> None:
    assert is_garbage("".join(chr(letter(ord(sign))) if sign > " " else sign for sign in LONG))


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "Go up to it as in an old tin of us. Pages turn. " * 20,
        LONG.upper(),
        "Příliš žluťoučký kůň úpěl ďábelské ódy a šest učňů klidně rýsovalo. " * 5,
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. " * 5,
        "Szczególnie źdźbło trzciny wśród chrząszczy brzmi w trzcinie dźwięcznie. " * 5,
        "Все люди рождаются свободными и равными в своём достоинстве и правах. " * 5,
        "Ὅλοι οἱ ἄνθρωποι γεννιοῦνται ἐλεύθεροι καὶ ἴσοι στὴν ἀξιοπρέπεια. " * 5,
        "人人生而自由，在尊严和权利上一律平等。" * 20,
        "1,204 35.6 % 2010/11 -0.4 (12) n/a 45678 3.9 EUR 2008 100.0 " * 20,
        "for index in range(len(pages)): self._ahead.take(indexes[index], turn=0) " * 10,
        "Dissolve MgSO4, NaHCO3 and KH2PO4 in water, then add 25 mg/l HEPES and stir well. " * 5,
        ". " * 500 + LONG,
        "\uf0b7 " * 12 + LONG,
    ],
)
def test_what_people_write_is_no_garbage(text: str) -> None:
    assert not is_garbage(text)
