"""Letters set apart are words again, and words that are short stay words."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.page.letter_spacing import join_letters
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from server.reading.conftest import Read

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _spaced(canvas: Canvas, text: str, y: float, apart: float, size: float = 10) -> None:
    line = canvas.beginText(72, y)
    line.setFont("Helvetica", size)
    line.setCharSpace(apart)
    line.textOut(text)
    canvas.drawText(line)


def _placed(canvas: Canvas, words: Sequence[Sequence[tuple[str, float]]], y: float) -> None:
    """Letters drawn one by one, each with the white space after it."""
    x = 72.0
    canvas.setFont("Helvetica", 10)
    for word in words:
        for letter, gap in word:
            canvas.drawString(x, y, letter)
            x += stringWidth(letter, "Helvetica", 10) + gap
        x += 6


async def _text(path: Path, read: Read) -> str:
    reading = await read(path, include_blocks=True)
    return reading.pages[0].markdown.replace("\n\n", "\n")


@pytest.mark.parametrize("apart", [1, 2, 2.5, 3, 4, 5, 6])
@pytest.mark.parametrize(
    "text", ["Excellent service", "Žižkov är ännu större", "Qwrt zxcv bnmp lkjh"]
)
async def test_letters_set_apart_are_words(
    tmp_path: Path, read: Read, text: str, apart: float
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _spaced(canvas, text, 700, apart)
    canvas.save()
    assert await _text(tmp_path / "a.pdf", read) == text


async def test_letters_unevenly_apart_are_words(tmp_path: Path, read: Read) -> None:
    gaps = [1.2, 2.9, 2.2, 1.2, 2.2, 2.9, 1.8, 2.2, 2.6]
    words = [list(zip(word, gaps, strict=False)) for word in ("Excellent", "results", "follow")]
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _placed(canvas, words, 700)
    canvas.save()
    assert await _text(tmp_path / "a.pdf", read) == "Excellent results follow"


async def test_a_heading_in_capitals_set_apart_is_a_word(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _spaced(canvas, "CHAPTER", 700, 6, size=16)
    canvas.save()
    assert "CHAPTER" in await _text(tmp_path / "a.pdf", read)


@pytest.mark.parametrize(
    "text",
    [
        "A B C D E F G H I J",
        "to be or not to be is a quiz",
        "x x x x x x",
        "1 2 3 5 4 6 9",
        "il y a de la vie à Io",
        "a = b + c - d x e",
    ],
)
@pytest.mark.parametrize("justified", [0, 2, 8])
async def test_short_words_stay_words(
    tmp_path: Path, read: Read, text: str, justified: float
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    line = canvas.beginText(72, 700)
    line.setFont("Helvetica", 10)
    line.setWordSpace(justified)
    line.textOut(text)
    canvas.drawText(line)
    canvas.save()
    read_text = (await _text(tmp_path / "a.pdf", read)).replace("\\", "").replace("|", " ")
    assert read_text.replace("-", " ").split() == text.replace("-", " ").split()


async def test_the_cells_of_a_head_stay_apart(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.setFont("Helvetica", 10)
    for row, texts in enumerate(
        (("to air", "to sea", "to us"), ("1.5", "20", "3"), ("2", "4", "8"))
    ):
        for column, text in enumerate(texts):
            canvas.drawString(72 + 60 * column, 700 - 16 * row, text)
    canvas.save()
    text = await _text(tmp_path / "a.pdf", read)
    assert all(head in text for head in ("to air", "to sea", "to us"))


@pytest.mark.parametrize("apart", [0, 0.4])
@pytest.mark.parametrize("turn", [90, -90])
async def test_turned_letters_are_words_by_their_gaps(
    tmp_path: Path, read: Read, turn: int, apart: float
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    for number in range(12):
        canvas.drawString(72, 700 - 20 * number, "This line of the page reads across it.")
    canvas.translate(540, 500)
    canvas.rotate(turn)
    _spaced(canvas, "Annual Health Survey", -30, apart, size=20)
    canvas.save()
    assert (await _text(tmp_path / "a.pdf", read)).endswith("\nAnnual Health Survey")


@pytest.mark.parametrize(
    ("text", "gaps", "whole"),
    [
        ("ส านัก งาน", (0, 4), "สำนัก งาน"),
        ("สา นั กงา น", (0, 0, 0), "สานักงาน"),
        ("น้ า", (0,), "น้ำ"),
        ("ราย จ่าย", (4,), "ราย จ่าย"),
    ],
)
async def test_thai_letters_that_touch_are_of_one_word(
    text: str, gaps: Sequence[float], whole: str
) -> None:
    x, words = 72.0, list[PlacedWord]()
    for word, gap in zip(text.split(), (*gaps, 0), strict=True):
        words.append(PlacedWord(word, x, 100, 6 * len(word), 18))
        x += 6 * len(word) + gap
    item = TextItem(text, 72, 100, x - 72, 18, 0, "THSarabunPSK", 16, words)
    join_letters([item])
    assert item.text == whole
