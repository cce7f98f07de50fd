"""CTC decoding of the recogniser's output, and the spelling of what it writes unlike the page."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SPACE = 0.15
"""Smallest summed probability of a space between two letters.

The sum counts even where the space is nowhere the best guess: otherwise words in narrow or
grainy print run together.
"""
_HARDLY, _WIDE = 0.03, 1.7
"""Smallest probability of a space between letters, this many times as far apart as usual."""
_LEAST_LETTERS = 6
"""Fewest letters of a line whose usual distance is known."""
_RARE = {"d": "ď", "t": "ť"}
_TELLING = 0.002
"""Smallest probability of a `_RARE` letter: the recogniser predicts these only where they stand."""
_REACH = 3
"""Steps of a line on either side of a letter's start that may belong to it."""
_SURE = 0.95
"""Smallest confidence of an accent on the page; less may be a speck, or the line above."""


class Letter(NamedTuple):
    """A letter, its confidence (0 to 1), and the step of the line where it begins."""

    text: str
    confidence: float
    start: int


class Decoder:
    """Decodes probabilities over an alphabet whose first entry is the blank."""

    def __init__(self, alphabet: Sequence[str]) -> None:
        self._alphabet = alphabet
        self._space = alphabet.index(" ")
        self._rare = {alphabet.index(usual): alphabet.index(rare) for usual, rare in _RARE.items()}

    def letters(self, chances: NDArray[np.float32]) -> list[Letter]:
        """Decode the letters of a line, with spaces; doubtful accents follow their letters.

        `chances` has a row for each step of the line and a column for each letter.
        """
        # It may be certain that there is a letter, but not which.
        guesses = chances[:, 1:].argmax(1) + 1
        guesses[chances[:, 0] > 0.5] = 0
        edges = np.flatnonzero(np.diff(guesses, prepend=0, append=0))
        found: list[Letter] = []
        steps: list[tuple[int, int, float]] = []
        end = 0
        for start, stop in pairwise(edges.tolist()):
            guess = int(guesses[start])
            if not guess:
                continue
            apart = float(chances[end:start, self._space].sum())
            steps.append((len(found), start, apart))
            if found and apart >= _SPACE and " " not in (found[-1].text, self._alphabet[guess]):
                found.append(Letter(" ", min(1.0, apart), end))
            found.append(self._letter(guess, chances[start:stop], start))
            end = stop
        return _add_wide_spaces(found, steps)

    def _letter(self, guess: int, chances: NDArray[np.float32], start: int) -> Letter:
        confidence = float(chances[:, guess].max())
        rare = self._rare.get(guess)
        if rare is not None and chances[:, rare].max() >= _TELLING:
            guess = rare
        letter = self._alphabet[guess]
        return Letter(_split_accent(letter) if confidence < _SURE else letter, confidence, start)


def _add_wide_spaces(found: list[Letter], steps: Sequence[tuple[int, int, float]]) -> list[Letter]:
    """Add spaces of low probability where letters stand unusually far apart.

    `steps` holds, for each letter, its index, its step and the probability of a space before it.
    """
    far = [after[1] - before[1] for before, after in pairwise(steps)]
    if len(far) < _LEAST_LETTERS:
        return found
    usual = sorted(far)[len(far) // 2]
    for (before, after), distance in reversed([*zip(pairwise(steps), far, strict=True)]):
        index, _, apart = after
        beside = found[index - 1].text + found[index].text if index else " "
        wide = distance >= _WIDE * usual and apart >= _HARDLY
        if wide and index == before[0] + 1 and beside.isascii() and " " not in beside:
            found.insert(index, Letter(" ", min(1.0, apart), before[1] + 1))
    return found


def _split_accent(letter: str) -> str:
    """Split a Latin letter into base letter and combining accent."""
    parted = unicodedata.normalize("NFD", letter)
    return parted if parted[:1].isascii() else letter


def covered_share(found: Sequence[Letter], ink: NDArray[np.bool_]) -> float:
    """Return the part of a line's ink that was read, 0 to 1; `ink` flags the steps with any.

    The recogniser skips letters of unknown scripts, and may be certain of those between them.
    """
    read = np.zeros(len(ink), bool)
    for letter in found:
        if not letter.text.isspace():
            read[max(0, letter.start - _REACH) : letter.start + _REACH + 1] = True
    return float((ink & read).sum() / max(1, ink.sum()))


_NUMBER_FORMS = re.compile("[\u2160-\u2188\u2460-\u249b]")
"""Roman numerals and circled numbers that are one character each."""
_CZECH_OR_SLOVAK = re.compile("[ěřůľĺŕ]")
_ENOUGH = 3
"""Fewest Czech or Slovak letters on a page in one of these languages."""
_CARON = re.compile(r"(?<=\w)([dtlďťľ])['’](?=\w)|(?<=[^\W\d])([dtlďťľ])['’](?!\w)")
_WITH_CARON = str.maketrans("dtl", "ďťľ")
_WITHOUT_CARON = str.maketrans("ďť", "dt")
_ACCENTED = re.compile("[\u00c0-\u017f]")
_ACCENT = re.compile("[\u0300-\u036f]")
_SELDOM = 300
"""Most letters per accent; a page with more is in a language without accents."""


def speller(texts: Sequence[str]) -> Callable[[str], str]:
    """Return a function that corrects the letters of a page's texts, and of each of their words.

    Separate accents are doubtful: they may be specks or parts of the line above.
    """
    czech = sum(len(_CZECH_OR_SLOVAK.findall(text)) for text in texts) >= _ENOUGH
    accents = sum(len(_ACCENTED.findall(text)) for text in texts)
    accented = accents * _SELDOM >= sum(map(len, texts))

    def spell(text: str) -> str:
        if not accented:
            text = _ACCENT.sub("", text)
        text = _NUMBER_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFC", text)
        if not czech:
            return text.translate(_WITHOUT_CARON)
        # In print, d, t and l with a caron look like letter and apostrophe.
        return _CARON.sub(lambda match: (match[1] or match[2]).translate(_WITH_CARON), text)

    return spell
