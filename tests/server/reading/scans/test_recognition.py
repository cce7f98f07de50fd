"""Answers of the OCR process as lines of a page."""

from typing import Any

import pytest
from PIL import Image

from carrel.server.reading.layout.flow import reading_order
from carrel.server.reading.scans.recognition import recognise_page

GUTTER = 10
"""Pixels between columns; the detector's boxes reach 4 beyond the ink on either side."""


def _found(text: str, left: int, top: int) -> dict[str, Any]:
    return {
        "text": text,
        "confidence": 0.99,
        "quad": [[left - 4, top], [left + 104, top], [left + 104, top + 14], [left - 4, top + 14]],
        "words": [(text, 0.99, 4 / 108, 104 / 108)],
    }


def test_columns_stay_apart_where_the_boxes_of_their_lines_nearly_meet() -> None:
    lefts = {"left": 50, "right": 50 + 100 + GUTTER}
    found = [_found(side, left, 100 + 15 * n) for n in range(8) for side, left in lefts.items()]

    def look(picture: Image.Image) -> dict[str, Any]:
        return {"turn": 0, "lines": found}

    picture = Image.new("L", (300, 400), 255)
    picture.putpixel((0, 0), 0)
    scan = recognise_page(picture.convert("RGB"), (300, 400), look)
    sides = [[line for line in scan.lines if line.text == side] for side in ("right", "left")]
    assert [len(lines) for lines in sides] == [8, 8]
    assert sides[0][0].box.left - sides[1][0].box.right == pytest.approx(GUTTER)
    assert reading_order([[line.box for line in lines] for lines in sides]) == [1, 0]
