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
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from carrel.server.reading.ocr.decoding import Decoder, Letter, covered_share
from carrel.server.reading.ocr.inference import Pixels, Tensor, load

_HEIGHT = 48
"""Height in pixels at which lines are read."""
_STEP = 64
"""Lines are padded to multiples of this many pixels: OpenVINO prepares anew for each size."""
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

    def letters(self, tensor: Tensor) -> list[Letter]:
        return self._decoder.letters(self._model(tensor)[0][0])


class LineReader:
    """Reads lines, in any thread."""

    def __init__(self, fast: Path | None, thorough: Path) -> None:
        """Load two models; without a fast one, the thorough one reads everything."""
        self._fast = _Recognition(fast) if fast else None
        self._thorough = _Recognition(thorough)
        self.engine = self._thorough.engine

    def read(self, pixels: Pixels) -> ReadLine:
        """Read a line from its BGR pixels, which show nothing else."""
        line = _fit(pixels)
        ink = _ink(line)
        found = self._letters(line, ink.tolist())
        sure = [letter.confidence for letter in found if not letter.text.isspace()]
        confidence = sum(sure) / max(1, len(sure)) * covered_share(found, ink)
        text = "".join(letter.text for letter in found)
        return ReadLine(text, confidence, words_of(found, ink.tolist()))

    def _letters(self, line: Pixels, ink: Sequence[bool]) -> list[Letter]:
        """Read with the fast model, then its doubtful words with the thorough one."""
        found = self._fast.letters(_prepare(line)) if self._fast else []
        doubtful = doubts(found, ink, _LEAST_WIDTH // _GUESS)
        if not found or sum(end - start for _, start, end in doubtful) > _MOSTLY * len(ink):
            return self._thorough.letters(_prepare(line))
        for letters, start, end in reversed(doubtful):
            again = self._thorough.letters(_prepare(line[:, start * _GUESS : end * _GUESS]))
            found[letters] = [letter._replace(start=letter.start + start) for letter in again]
        return found


def _alphabet_beside(path: Path) -> list[str]:
    """Read the alphabet of a model whose file lacks it."""
    (dictionary,) = path.parents[2].glob("*_tiny_dict.txt")
    return dictionary.read_text("utf-8").rstrip("\n").split("\n")


def _fit(crop: Pixels) -> Pixels:
    """Scale a line to the reading height."""
    height, length = crop.shape[:2]
    width = max(_GUESS, math.ceil(_HEIGHT * length / height))
    return np.asarray(cv2.resize(crop, (width, _HEIGHT)), np.uint8)


def _prepare(line: Pixels) -> Tensor:
    """Prepare a line for the models: padded to a recurring width, -1 to 1, channels first."""
    width = max(_LEAST_WIDTH, -(-line.shape[1] // _STEP) * _STEP)
    filled = np.full((1, 3, _HEIGHT, width), _BESIDE_LINE, np.float32)
    filled[0, :, :, : line.shape[1]] = line.transpose(2, 0, 1)
    return np.asarray(filled / 127.5 - 1, np.float32)


def _ink(line: Pixels) -> NDArray[np.bool_]:
    """Return for each step of a line whether its ink exceeds that of a rule along the line."""
    grey = line.mean(2)[:, : line.shape[1] // _GUESS * _GUESS]
    away = np.abs(grey - np.median(grey))
    inked = (away > away.max() / 2).reshape(_HEIGHT, -1, _GUESS).mean((0, 2))
    return np.asarray(inked > _INKED)


def words_of(found: Sequence[Letter], ink: Sequence[bool]) -> list[ReadWord]:
    """Build words with the certainty that all their letters are right; `ink` flags inked guesses.

    It is calibrated: of words with a certainty of 0.95, 95 in 100 are right.
    """
    groups = [[found[index] for index in word] for word in _words(found)]
    if not groups:
        return []
    gaps = [widest_gap(ink, word[-1].start, after[0].start) for word, after in pairwise(groups)]
    # Faded print is read where hardly any ink is left.
    inked = [step for step, any_ink in enumerate(ink) if any_ink] or [0, len(ink)]
    starts = [min(inked[0], groups[0][0].start), *(start for _, start in gaps)]
    ends = [*(end for end, _ in gaps), max(inked[-1], groups[-1][-1].start) + 1]
    length = max(1, len(ink))
    return [
        ReadWord(
            "".join(letter.text for letter in word),
            prod(letter.confidence for letter in word) ** _DEPENDENCE,
            min(1.0, start / length),
            min(1.0, max(start, end) / length),
        )
        for word, start, end in zip(groups, starts, ends, strict=True)
    ]


_SURE = 0.9
"""Smallest confidence of every letter of a sure word, and of the space before it."""
_ALIKE = frozenset("Il|")
"""Letters that look alike in many fonts: only the words around them tell "Il" from "II"."""


class Doubt(NamedTuple):
    """Words to read again: their letters, and the steps of the line where they stand."""

    letters: slice
    start: int
    end: int


def doubts(found: Sequence[Letter], ink: Sequence[bool], least: int) -> list[Doubt]:
    """Find the doubtful words among the letters of a line; `ink` flags its inked steps.

    The words on either side are read again too, and more while there are fewer than `least`
    steps, which cost the same: a word alone is read less well.
    """
    words = [range(group[0], group[-1] + 1) for group in _words(found)]
    unsure = [
        any(letter.confidence < _SURE for letter in found[max(0, word.start - 1) : word.stop])
        or (len(word) > 1 and all(found[index].text in _ALIKE for index in word))
        for word in words
    ]
    between = [
        sum(widest_gap(ink, found[word[-1]].start, found[after[0]].start)) // 2
        for word, after in pairwise(words)
    ]
    edges = [0, *between, len(ink)]
    again = [False] * len(words)
    for first, last in _runs([any(unsure[max(0, n - 1) : n + 2]) for n in range(len(words))]):
        while edges[last + 1] - edges[first] < least and last + 1 - first < len(words):
            first, last = (first, last + 1) if last + 1 < len(words) else (first - 1, last)
        again[first : last + 1] = [True] * (last + 1 - first)
    return [
        Doubt(slice(words[first].start, words[last].stop), edges[first], edges[last + 1])
        for first, last in _runs(again)
    ]


def widest_gap(ink: Sequence[bool], last: int, first: int) -> tuple[int, int]:
    """Start and end of the widest blank between the steps of two letters."""
    blanks = _runs([not inked for inked in ink[last : first + 1]])
    nothing = first - last, first - last - 1
    start, end = max(blanks, key=lambda run: run[1] - run[0], default=nothing)
    return last + start, last + end + 1


def _words(found: Sequence[Letter]) -> list[list[int]]:
    """Return the indexes of each word's letters."""
    groups = groupby(range(len(found)), lambda index: found[index].text.isspace())
    return [list(group) for blank, group in groups if not blank]


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and last index of each run of flags that are set."""
    groups = [list(group) for flag, group in groupby(range(len(flags)), flags.__getitem__) if flag]
    return [(group[0], group[-1]) for group in groups]
