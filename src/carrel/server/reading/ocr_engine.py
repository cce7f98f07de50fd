"""rapidocr at work inside the OCR process: where text stands in a picture, and what it says.

Its models know the letters of the European languages that are written in Latin, and Chinese and
Japanese; not those of Vietnamese, Cyrillic, Hebrew, Arabic, Thai, Korean or the scripts of India,
and Greek ones only without accents.
"""

import logging
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from carrel.server.reading.decoding import Decoder, Letter, covered

if TYPE_CHECKING:
    from numpy import bool_, float32, uint8
    from numpy.typing import NDArray

    Pixels = NDArray[uint8]

Quad = list[list[float]]
"""Four corners in pixels, clockwise from the top left."""

_CORES = 4
"""More cores than this are left to others."""
_HEIGHT = 48
"""Pixels. The recogniser reads lines of this height."""
_STEP = 64
"""Pixels of width that lines are filled up to. What comes in few sizes is read faster: OpenVINO
prepares itself for each size it meets."""
_LEAST_WIDTH = 320
"""Pixels. Shorter lines are filled up to it."""
_GUESS = 8
"""Pixels of width for which the recogniser makes one guess."""
_INKED = 0.08
"""The part of these pixels that is ink, where a letter stands."""
_BESIDE_LINE = 128
"""The grey that the recogniser takes for nothing."""
_DETECTED_SIDE = 1600
"""Pixels of a picture's longer side in which text is looked for. It is read in all of them."""


@dataclass(frozen=True)
class Found:
    """A line of text: its corners, and its pixels as if it lay level."""

    quad: Quad
    pixels: "Pixels"

    @property
    def length(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def stands(self) -> bool:
        """Whether the line runs up or down."""
        (x0, y0), (x1, y1), _, (x3, y3) = self.quad
        return math.hypot(x3 - x0, y3 - y0) > 1.5 * math.hypot(x1 - x0, y1 - y0)


@dataclass(frozen=True)
class ReadLine:
    """What a line says; every word with its own confidence, 0 to 1."""

    text: str
    confidence: float
    words: list[tuple[str, float]]


class OCREngine:
    """Finds and reads lines, on every core it may use."""

    def __init__(self) -> None:
        from rapidocr import EngineType

        for engine in (EngineType.OPENVINO, EngineType.ONNXRUNTIME):
            try:
                self._readers = [_load(engine) for _ in range(_cores())]
                self._try_out()
            except Exception:
                if engine is EngineType.ONNXRUNTIME:
                    raise
                logging.getLogger(__name__).warning("OpenVINO does not work here", exc_info=True)
            else:
                self.name: str = engine.value
                break
        self._pool = ThreadPoolExecutor(len(self._readers))
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for reader in self._readers:
            self._idle.put(reader)
        self._decoder = Decoder(self._readers[0].text_rec.postprocess_op.character)

    def find(self, picture: "Pixels") -> list[Found]:
        """The lines in a picture of blue, green and red, from top to bottom."""
        from rapidocr.main import RapidOCRError

        try:
            crops, result = self._readers[0].detect_and_crop(picture, {})
        except RapidOCRError:
            # That is how it says that there is no text.
            return []
        return [
            Found([[float(x), float(y)] for x, y in quad], crop)
            for quad, crop in zip(result.boxes, crops, strict=True)
        ]

    def read(self, lines: Sequence[Found]) -> list[ReadLine]:
        """What the lines say, in their order."""
        # The longest first, so that no core waits long for another at the end.
        order = sorted(range(len(lines)), key=lambda number: -lines[number].length)
        read = self._pool.map(self._read, [lines[number] for number in order])
        answers = dict(zip(order, read, strict=True))
        return [answers[number] for number in range(len(lines))]

    def _read(self, line: Found) -> ReadLine:
        reader = self._idle.get()
        try:
            return _read_line(reader.text_rec.session, self._decoder, _fitted(line.pixels))
        finally:
            self._idle.put(reader)

    def _try_out(self) -> None:
        import numpy as np

        sample = np.full((64, 256, 3), 255, np.uint8)
        sample[24:40, 32:224:8] = 0
        self.find(sample)
        for reader in self._readers:
            reader.recognize_txt([sample])


def _cores() -> int:
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows do not say.
        usable = os.cpu_count() or 1
    return min(usable, _CORES)


def _load(engine: Any) -> Any:
    from rapidocr import RapidOCR

    parameters = {
        # Its line classifier turns good lines over; whole pages are turned instead.
        "Global.use_cls": False,
        "Global.log_level": "error",
        "Global.use_vertical_padding": False,
        "Det.engine_type": engine,
        "Det.limit_type": "max",
        "Det.limit_side_len": _DETECTED_SIDE,
        "Rec.engine_type": engine,
        # A batch would be as wide as its longest line.
        "Rec.rec_batch_num": 1,
        # Threads that wait for each other are slow on a busy machine: each reader is alone.
        "EngineConfig.openvino.inference_num_threads": 1,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        # Several servers on one machine would otherwise share one core.
        "EngineConfig.openvino.enable_cpu_pinning": False,
    }
    return RapidOCR(params=parameters)


def _read_line(session: Any, decoder: Decoder, line: "Pixels") -> ReadLine:
    found = decoder.letters(session(_filled_up(line))[0])
    sure = [letter.confidence for letter in found if not letter.text.isspace()]
    confidence = sum(sure) / max(1, len(sure)) * covered(found, _ink(line))
    return ReadLine("".join(letter.text for letter in found), confidence, _words(found))


def _fitted(crop: "Pixels") -> "Pixels":
    """A line in the height that is read."""
    import cv2
    import numpy as np

    height, length = crop.shape[:2]
    width = max(_GUESS, math.ceil(_HEIGHT * length / height))
    return np.asarray(cv2.resize(crop, (width, _HEIGHT)), np.uint8)


def _filled_up(line: "Pixels") -> "NDArray[float32]":
    """A line as the recogniser takes it: in a width that recurs, from -1 to 1, colours first."""
    import numpy as np

    width = max(_LEAST_WIDTH, -(-line.shape[1] // _STEP) * _STEP)
    filled = np.full((1, 3, _HEIGHT, width), _BESIDE_LINE, np.float32)
    filled[0, :, :, : line.shape[1]] = line.transpose(2, 0, 1)
    return np.asarray(filled / 127.5 - 1, np.float32)


def _ink(line: "Pixels") -> "NDArray[bool_]":
    """For each guess on a line, whether there is ink: more than a rule along the line."""
    import numpy as np

    grey = line.mean(2)[:, : line.shape[1] // _GUESS * _GUESS]
    away = np.abs(grey - np.median(grey))
    inked = (away > away.max() / 2).reshape(_HEIGHT, -1, _GUESS).mean((0, 2))
    return np.asarray(inked > _INKED)


def _words(found: Sequence[Letter]) -> list[tuple[str, float]]:
    """The words with the mean certainty of their letters."""
    words = []
    for blank, group in groupby(found, lambda letter: letter.text.isspace()):
        if not blank:
            word = list(group)
            mean = sum(letter.confidence for letter in word) / len(word)
            words.append(("".join(letter.text for letter in word), mean))
    return words
