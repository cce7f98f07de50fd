"""A few pages of the OCR evaluation, each from another scanner, held to firm bounds."""

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.ocr.score import order, word_f1, words
from benchmarks.ocr.sheets import SCANNERS, sheets
from server.reading.conftest import Read

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(("number", "scanner"), enumerate(SCANNERS))
async def test_a_scan_has_the_words_of_its_text_layer_in_order(
    tmp_path: Path, read: Read, number: int, scanner: str
) -> None:
    # The first pages are set in the font of reportlab's wheel.
    sheet = next(islice(sheets(tmp_path), number, None))
    SCANNERS[scanner](sheet.picture(150), number).save(tmp_path / "a.png")
    (page,) = (await read(tmp_path / "a.png", extract_header=True, extract_footer=True)).pages
    found = words("\n".join(filter(None, (page.header, page.markdown, page.footer))))
    lines = [words(line) for line in sheet.lines]
    assert word_f1(found, [word for line in lines for word in line]) >= 0.98
    assert order(found, lines) >= 0.98
