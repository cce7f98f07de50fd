"""Reading of a line of text, inside the OCR process: a fast model, and a better one in doubt.

The models know the letters of European languages in Latin script, and Chinese and Japanese; not
those of Vietnamese, Cyrillic, Hebrew, Arabic, Thai, Korean or the scripts of India, and Greek
ones only without accents.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.server.reading.ocr.decoding import Decoder, Letter, covered
from carrel.server.reading.ocr.doubts import doubts, widest_gap
from carrel.server.reading.ocr.inference import load

if TYPE_CHECKING:
    from numpy import bool_, float32, uint8
    from numpy.typing import NDArray

    Pixels = NDArray[uint8]

_HEIGHT = 48
"""Height in pixels at which lines are read."""
_STEP = 64
"""Pad lines to multiples of this many pixels: OpenVINO prepares for each size, so few are
faster.
"""
_LEAST_WIDTH = 320
"""Smallest width in pixels; shorter lines are padded to it."""
_GUESS = 8
"""Pixels of width per guess of the models."""
_INKED = 0.08
"""Smallest fraction of ink in these pixels where a letter stands."""
_BESIDE_LINE = 128
"""Grey that the models take for blank."""
_DEPENDENCE = 0.3
"""Exponent of a word's confidence, as its letters' errors correlate; measured on varied scans."""
_MOSTLY = 0.6
"""Largest doubtful part of a line that is read again without the rest."""


class ReadWord(NamedTuple):
    """A word, its confidence (0 to 1), and its start and end as fractions of its line."""

    text: str
    confidence: float
    start: float
    end: float


@dataclass(frozen=True)
class ReadLine:
    """The text of a line; each word with its own confidence, 0 to 1."""

    text: str
    confidence: float
    words: list[ReadWord]


class _Recognition:
    """One PP-OCR recognition model."""

    def __init__(self, path: Path) -> None:
        self._model = load(path)
        self.engine = self._model.engine
        alphabet = self._model.alphabet or _alphabet_beside(path)
        # The first output is the blank, the last a space.
        self._decoder = Decoder(["", *alphabet, " "])

    def letters(self, tensor: "NDArray[float32]") -> list[Letter]:
        return self._decoder.letters(self._model(tensor)[0][0])


class LineReader:
    """Reads lines, in any thread."""

    def __init__(self, fast: Path | None, thorough: Path) -> None:
        """Load two models; without a fast one, the thorough one reads everything."""
        self._fast = _Recognition(fast) if fast else None
        self._thorough = _Recognition(thorough)
        self.engine = self._thorough.engine

    def read(self, pixels: "Pixels") -> ReadLine:
        """Read a line from its BGR pixels, which show nothing else."""
        line = _fitted(pixels)
        ink = _ink(line)
        found = self._letters(line, ink.tolist())
        sure = [letter.confidence for letter in found if not letter.text.isspace()]
        confidence = sum(sure) / max(1, len(sure)) * covered(found, ink)
        text = "".join(letter.text for letter in found)
        return ReadLine(text, confidence, words_of(found, ink.tolist()))

    def _letters(self, line: "Pixels", ink: Sequence[bool]) -> list[Letter]:
        """Read with the fast model, then its doubtful words with the thorough one."""
        found = self._fast.letters(_filled_up(line)) if self._fast else []
        doubtful = doubts(found, ink, _LEAST_WIDTH // _GUESS)
        if not found or sum(doubt.length for doubt in doubtful) > _MOSTLY * len(ink):
            return self._thorough.letters(_filled_up(line))
        for doubt in reversed(doubtful):
            pixels = line[:, doubt.start * _GUESS : doubt.end * _GUESS]
            again = self._thorough.letters(_filled_up(pixels))
            found[doubt.letters] = [
                letter._replace(start=letter.start + doubt.start) for letter in again
            ]
        return found


def _alphabet_beside(path: Path) -> list[str]:
    """Read the alphabet of a model whose file lacks it."""
    (dictionary,) = path.parents[2].glob("*_tiny_dict.txt")
    return dictionary.read_text("utf-8").rstrip("\n").split("\n")


def _fitted(crop: "Pixels") -> "Pixels":
    """Scale a line to the reading height."""
    import cv2
    import numpy as np

    height, length = crop.shape[:2]
    width = max(_GUESS, math.ceil(_HEIGHT * length / height))
    return np.asarray(cv2.resize(crop, (width, _HEIGHT)), np.uint8)


def _filled_up(line: "Pixels") -> "NDArray[float32]":
    """Prepare a line for the models: padded to a recurring width, -1 to 1, channels first."""
    import numpy as np

    width = max(_LEAST_WIDTH, -(-line.shape[1] // _STEP) * _STEP)
    filled = np.full((1, 3, _HEIGHT, width), _BESIDE_LINE, np.float32)
    filled[0, :, :, : line.shape[1]] = line.transpose(2, 0, 1)
    return np.asarray(filled / 127.5 - 1, np.float32)


def _ink(line: "Pixels") -> "NDArray[bool_]":
    """Return, for each step of a line, whether it has more ink than a rule along the line would."""
    import numpy as np

    grey = line.mean(2)[:, : line.shape[1] // _GUESS * _GUESS]
    away = np.abs(grey - np.median(grey))
    inked = (away > away.max() / 2).reshape(_HEIGHT, -1, _GUESS).mean((0, 2))
    return np.asarray(inked > _INKED)


def words_of(found: Sequence[Letter], ink: Sequence[bool]) -> list[ReadWord]:
    """Build words with the certainty that all their letters are right; `ink` flags inked guesses.

    It is calibrated: of words with a certainty of 0.95, 95 in 100 are right.
    """
    groups = [
        list(group)
        for blank, group in groupby(found, lambda letter: letter.text.isspace())
        if not blank
    ]
    inked = [step for step, any_ink in enumerate(ink) if any_ink] or [0, len(ink)]
    starts, ends = [min(inked[0], groups[0][0].start) if groups else 0], []
    for word, following in pairwise(groups):
        end, start = widest_gap(ink, word[-1].start, following[0].start)
        ends.append(end)
        starts.append(start)
    # Faded print is read where hardly any ink is left.
    ends.append(max(inked[-1], groups[-1][-1].start if groups else 0) + 1)
    length = max(1, len(ink))
    return [
        ReadWord(
            "".join(letter.text for letter in word),
            prod(letter.confidence for letter in word) ** _DEPENDENCE,
            min(1.0, start / length),
            min(1.0, max(start, end) / length),
        )
        for word, start, end in zip(groups, starts, ends, strict=False)
    ]
