"""Lines in scripts that the built-in models do not know, read by the real Tesseract."""

import difflib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from carrel.server.admin.doctor.reading import check_scripts
from carrel.server.reading.languages import languages
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader
from carrel.store.documents.boxes import missing_note
from carrel.wire.ocr import Page
from support import requires

RUSSIAN = (
    "Читальный зал открывается в девять часов утра.",
    "На каждом столе есть лампа, стул и окно.",
    "Читатели могут держать книги на столе неделю.",
    "Зал закрыт первого мая и третьего июня.",
)
ENGLISH = ("The reading room opens at nine.", "Every carrel has a lamp and a chair.")


@pytest.fixture(autouse=True)
def installed_anew() -> Iterator[None]:
    languages.cache_clear()
    yield
    languages.cache_clear()


def scan(path: Path, *lines: str) -> Path:
    """A page in a typeface that has Cyrillic letters."""
    font = ImageFont.truetype(requires.dejavu(), 36)
    page = Image.new("RGB", (1200, 100 + 80 * len(lines)), "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((60, 60 + number * 80), line, fill="black", font=font)
    page.save(path)
    return path


def likeness(text: str, *lines: str) -> float:
    """The similarity of a page's text and the lines drawn on it."""
    words = " ".join(text.split())
    return difflib.SequenceMatcher(None, words, " ".join(lines), autojunk=False).ratio()


async def read(path: Path) -> Page:
    """The page as a reader that was started now reads it: the path of programs may be another."""
    reader = Reader()
    try:
        options = ReadOptions(granularity="word")
        return (await reader.read(path, mimetype="image/png", options=options)).pages[0]
    finally:
        await reader.stop()


async def test_a_page_in_two_scripts_is_read(tmp_path: Path) -> None:
    requires.tesseract()
    lines = (*ENGLISH, *RUSSIAN)
    page = await read(scan(tmp_path / "a.png", *lines))
    assert likeness(page.markdown, *lines) > 0.97
    assert page.confidence_scores is not None
    scores = page.confidence_scores.word_confidence_scores or []
    for score in scores:
        start = score.start_index
        assert page.markdown[start : start + len(score.text)] == score.text
    assert missing_note(page) != "" and "“�”" not in missing_note(page)
    assert "rus" in check_scripts().said


async def test_without_tesseract_nothing_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    page = await read(scan(tmp_path / "a.png", *RUSSIAN))
    assert page.markdown.split() == ["�"] * len(RUSSIAN)
    assert "tesseract-ocr-rus" in missing_note(page)
    assert "apt-get install tesseract-ocr" in check_scripts().said


async def test_a_tesseract_that_fails_costs_its_lines_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "tesseract"
    broken.write_text('#!/bin/sh\n[ "$1" = --list-langs ] && echo rus\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    page = await read(scan(tmp_path / "a.png", *ENGLISH, *RUSSIAN))
    assert "reading room opens" in page.markdown
    assert page.markdown.count("�") == len(RUSSIAN)
