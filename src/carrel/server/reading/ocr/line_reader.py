"""What a line of text says, inside the OCR process: by a fast model, and where it doubts, a better.

The models know the letters of the European languages that are written in Latin, and Chinese and
Japanese; not those of Vietnamese, Cyrillic, Hebrew, Arabic, Thai, Korean or the scripts of India,
and Greek ones only without accents.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.server.reading.ocr.decoding import Decoder, Letter, covered
from carrel.server.reading.ocr.inference import load

if TYPE_CHECKING:
    from numpy import bool_, float32, uint8
    from numpy.typing import NDArray

    Pixels = NDArray[uint8]

_HEIGHT = 48
"""Pixels. Lines are read in this height."""
_STEP = 64
"""Pixels of width that lines are filled up to. What comes in few sizes is read faster: OpenVINO
prepares itself for each size it meets."""
_LEAST_WIDTH = 320
"""Pixels. Shorter lines are filled up to it."""
_GUESS = 8
"""Pixels of width for which the models make one guess."""
_INKED = 0.08
"""The part of these pixels that is ink, where a letter stands."""
_BESIDE_LINE = 128
"""The grey that the models take for nothing."""
_DEPENDENCE = 0.3
"""How little the letters of a word are doubtful independently, measured on scans of many kinds."""
_SURE = 0.9
"""A line all of whose letters the fast model reads with this certainty is not read again."""


class ReadWord(NamedTuple):
    """A word, how sure it is (0 to 1), and where it starts and ends as parts of its line."""

    text: str
    confidence: float
    start: float
    end: float


@dataclass(frozen=True)
class ReadLine:
    """What a line says; every word with its own confidence, 0 to 1."""

    text: str
    confidence: float
    words: list[ReadWord]


class _Recognition:
    """One PP-OCR recognition model."""

    def __init__(self, path: Path) -> None:
        self._model = load(path)
        self.engine = self._model.engine
        alphabet = self._model.alphabet or _alphabet_beside(path)
        # The first of its answers is that there is no letter, the last a space.
        self._decoder = Decoder(["", *alphabet, " "])

    def letters(self, tensor: "NDArray[float32]") -> list[Letter]:
        return self._decoder.letters(self._model(tensor)[0][0])


class LineReader:
    """Reads lines, in any thread."""

    def __init__(self, fast: Path | None, thorough: Path) -> None:
        """The paths of two models; without a fast one, the thorough reads everything."""
        self._fast = _Recognition(fast) if fast else None
        self._thorough = _Recognition(thorough)
        self.engine = self._thorough.engine

    def read(self, pixels: "Pixels") -> ReadLine:
        """What a line says, of whose pixels of blue, green and red there is nothing else."""
        line = _fitted(pixels)
        tensor = _filled_up(line)
        found = self._fast.letters(tensor) if self._fast else []
        if min((letter.confidence for letter in _printed(found)), default=0.0) < _SURE:
            found = self._thorough.letters(tensor)
        sure = [letter.confidence for letter in _printed(found)]
        ink = _ink(line)
        confidence = sum(sure) / max(1, len(sure)) * covered(found, ink)
        text = "".join(letter.text for letter in found)
        return ReadLine(text, confidence, _words(found, ink.tolist()))


def _alphabet_beside(path: Path) -> list[str]:
    """The letters of a model whose file does not say them."""
    (dictionary,) = path.parents[2].glob("*_tiny_dict.txt")
    return dictionary.read_text("utf-8").rstrip("\n").split("\n")


def _printed(found: Sequence[Letter]) -> list[Letter]:
    return [letter for letter in found if not letter.text.isspace()]


def _fitted(crop: "Pixels") -> "Pixels":
    """A line in the height that is read."""
    import cv2
    import numpy as np

    height, length = crop.shape[:2]
    width = max(_GUESS, math.ceil(_HEIGHT * length / height))
    return np.asarray(cv2.resize(crop, (width, _HEIGHT)), np.uint8)


def _filled_up(line: "Pixels") -> "NDArray[float32]":
    """A line as the models take it: in a width that recurs, from -1 to 1, colours first."""
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


def _words(found: Sequence[Letter], ink: Sequence[bool]) -> list[ReadWord]:
    """The words with the certainty that all their letters are right; `ink` is where there is any.

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
        end, start = _gap(ink, word[-1].start, following[0].start)
        ends.append(end)
        starts.append(start)
    ends.append(inked[-1] + 1)
    length = max(1, len(ink))
    return [
        ReadWord(
            "".join(letter.text for letter in word),
            prod(letter.confidence for letter in word) ** _DEPENDENCE,
            min(1.0, start / length),
            min(1.0, end / length),
        )
        for word, start, end in zip(groups, starts, ends, strict=False)
    ]


def _gap(ink: Sequence[bool], last: int, first: int) -> tuple[int, int]:
    """Where the widest space between two letters begins and ends."""
    best = (first, first)
    start = None
    for step in range(last, min(first + 1, len(ink))):
        if ink[step]:
            start = None
            continue
        start = step if start is None else start
        if step + 1 - start > best[1] - best[0]:
            best = (start, step + 1)
    return best
