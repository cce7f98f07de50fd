"""What stands in the answer for lines that the engine cannot read."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from carrel.server.reading.ocr.detector import DetectedLine
from carrel.server.reading.ocr.line_reader import ReadLine, ReadWord
from carrel.server.reading.ocr.process import OCREngine, read_page


class Engine:
    """Finds lines one below the other, and is as certain of them as it is told to be."""

    def __init__(self, *certainties: float) -> None:
        self._certainties = certainties

    def find(self, picture: np.ndarray[Any, Any]) -> list[DetectedLine]:
        # The height of a line's pixels says which it is.
        return [
            DetectedLine(
                [
                    [0.0, 20.0 * row],
                    [90.0, 20.0 * row],
                    [90.0, 20.0 * row + 15],
                    [0.0, 20 * row + 15],
                ],
                np.zeros((row + 1, 90, 3), np.uint8),
            )
            for row in range(len(self._certainties))
        ]

    def read(self, lines: Sequence[DetectedLine]) -> list[ReadLine]:
        certainties = [self._certainties[len(line.pixels) - 1] for line in lines]
        return [
            ReadLine("word", certainty, [ReadWord("word", certainty, 0, 1)])
            for certainty in certainties
        ]


def read(*certainties: float) -> list[tuple[str, float]]:
    picture = np.full((400, 400, 3), 255, np.uint8)
    answer = read_page(cast(OCREngine, Engine(*certainties)), picture)
    return [(line["text"], line["confidence"]) for line in answer["lines"]]


def test_doubtful_lines_among_others_are_no_text() -> None:
    assert read(0.9, 0.1, 0.9, 0.2, 0.9, 0.1) == [("word", 0.9)] * 3


@pytest.mark.parametrize("lines", [1, 2])
def test_a_few_doubtful_lines_are_parts_of_a_picture(lines: int) -> None:
    assert read(*[0.1] * lines) == []


def test_a_sign_stands_for_each_line_of_a_page_that_cannot_be_read() -> None:
    assert read(0.1, 0.9, 0.05, 0.1) == [
        ("\ufffd", 0.1),
        ("word", 0.9),
        ("\ufffd", 0.05),
        ("\ufffd", 0.1),
    ]
