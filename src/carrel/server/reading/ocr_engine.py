"""rapidocr at work inside the OCR process: where text stands in a picture, and what it says.

Its models know the letters of the European languages that are written in Latin, and Chinese and
Japanese; not Vietnamese, Greek, Cyrillic, Arabic, Hebrew, Korean or the scripts of India.
"""

import logging
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import uint8
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
        # Every core gets as many long lines as the others.
        order = sorted(range(len(lines)), key=lambda number: lines[number].length)
        shares = [order[core :: len(self._readers)] for core in range(len(self._readers))]
        read = self._pool.map(
            lambda reader, share: _read(reader, [lines[number].pixels for number in share]),
            self._readers,
            shares,
        )
        answers = dict(zip(chain(*shares), chain(*read), strict=True))
        return [answers[number] for number in range(len(lines))]

    def _try_out(self) -> None:
        import numpy as np

        sample = np.full((64, 256, 3), 255, np.uint8)
        sample[24:40, 32:224:8] = 0
        for reader in self._readers:
            reader(sample)


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
        "Global.return_word_box": True,
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


def _read(reader: Any, crops: list["Pixels"]) -> list[ReadLine]:
    if not crops:
        return []
    result = reader.recognize_txt([_fitted(crop) for crop in crops])
    return [
        ReadLine(text, score, _words(text, letters.confs))
        for text, score, letters in zip(
            result.txts, result.scores, result.word_results, strict=True
        )
    ]


def _fitted(crop: "Pixels") -> "Pixels":
    """A line in the height that is read, filled up to a step of width."""
    import cv2
    import numpy as np

    height, length = crop.shape[:2]
    width = max(1, math.ceil(_HEIGHT * length / height))
    fitted = np.full((_HEIGHT, -(-width // _STEP) * _STEP, 3), _BESIDE_LINE, np.uint8)
    fitted[:, :width] = cv2.resize(crop, (width, _HEIGHT))
    return fitted


def _words(text: str, certainties: Sequence[float]) -> list[tuple[str, float]]:
    """The words with the mean certainty of their letters."""
    words, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        letters = certainties[start : start + len(word)]
        words.append((word, sum(letters) / len(letters)))
        start += len(word)
    return words
