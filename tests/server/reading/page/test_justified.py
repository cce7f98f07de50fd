"""Justified lines with wide spaces are whole, and columns stay apart."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from server.reading.conftest import Read

pytestmark = pytest.mark.asyncio(loop_scope="module")

_TEXT = "the reading room is open to every reader who returns books on time and keeps quiet"
_WORDS = _TEXT.split()
_SIZE = 11
_LONG = [*_WORDS, "notwithstanding", "administrative", "responsibilities"]


def _line(canvas: Canvas, words: Sequence[str], left: float, y: float, gap: float) -> None:
    """Draws words with a gap between them in a font of one point that is scaled."""
    canvas.saveState()
    canvas.scale(_SIZE, _SIZE)
    line = canvas.beginText(left / _SIZE, y / _SIZE)
    line.setFont("Times-Roman", 1)
    line.setWordSpace((gap - stringWidth(" ", "Times-Roman", _SIZE)) / _SIZE)
    line.textOut(" ".join(words))
    canvas.drawText(line)
    canvas.restoreState()


def _set(canvas: Canvas, words: Sequence[str], left: float, top: float, width: float) -> int:
    """Sets words as justified lines and returns how many these are."""
    lines: list[list[str]] = [[]]
    for word in words:
        if stringWidth(" ".join([*lines[-1], word]), "Times-Roman", _SIZE) > width:
            lines.append([])
        lines[-1].append(word)
    for number, line in enumerate(lines):
        used = sum(stringWidth(word, "Times-Roman", _SIZE) for word in line)
        last = number == len(lines) - 1
        gap = 2.75 if last or len(line) == 1 else (width - used) / (len(line) - 1)
        _line(canvas, line, left, top - 14 * number, gap)
    return len(lines)


@pytest.mark.parametrize("seed", range(6))
async def test_a_justified_paragraph_is_whole(tmp_path: Path, read: Read, seed: int) -> None:
    words = random.Random(seed).choices(_LONG, k=90)
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _set(canvas, words, 72, 720, 300)
    canvas.save()
    reading = await read(tmp_path / "a.pdf")
    assert reading.pages[0].markdown == " ".join(words)


def _stretch(canvas: Canvas, text: str, left: float, right: float, y: float) -> None:
    """Sets a text from edge to edge."""
    words = text.split()
    used = sum(stringWidth(word, "Times-Roman", _SIZE) for word in words)
    _line(canvas, words, left, y, (right - left - used) / (len(words) - 1))


async def test_a_river_between_words_is_no_gutter(tmp_path: Path, read: Read) -> None:
    first = "The reading room is open to every reader who returns books"
    rivers = [
        ("and to those who bring what others have", "borrowed from it"),
        ("from the shelves of a northern hall as a", "long time before"),
    ]
    last = "the librarian had counted all the volumes of the archive."
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _stretch(canvas, first, 72, 374, 700)
    for number, (left, right) in enumerate(rivers):
        _stretch(canvas, left, 72, 282, 686 - 14 * number)
        _stretch(canvas, right, 289.5, 374, 686 - 14 * number)
    _stretch(canvas, last, 72, 374, 658)
    canvas.save()
    reading = await read(tmp_path / "a.pdf")
    lines = [first, *map(" ".join, rivers), last]
    assert reading.pages[0].markdown == " ".join(lines)


@pytest.mark.parametrize("seed", range(6))
async def test_justified_columns_stay_apart(tmp_path: Path, read: Read, seed: int) -> None:
    chance = random.Random(seed)
    one, two = chance.choices(_WORDS, k=120), chance.choices(_WORDS, k=120)
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _set(canvas, one, 72, 720, 215)
    _set(canvas, two, 72 + 215 + 16, 720, 215)
    canvas.save()
    reading = await read(tmp_path / "a.pdf")
    assert reading.pages[0].markdown.split() == [*one, *two]
