"""What the recogniser's guesses spell: for each few pixels of a line, a letter or none (CTC)."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy import bool_, float32
    from numpy.typing import NDArray

_SPACE = 0.15
"""A space whose chances add up to this stands between two letters, though none is the best guess
in any one place: words in narrow or grainy print would otherwise run together."""
_RARE = {"d": "ď", "t": "ť"}
_TELLING = 0.002
"""The recogniser hardly knows these letters: it thinks of them only where they stand."""
_REACH = 3
"""Steps of a line on either side of a letter that may be part of it."""
_SURE = 0.95
"""Accents on the page are read with more certainty; less may be a speck, or the line above."""


class Letter(NamedTuple):
    """A letter, how certain it is (0 to 1), and the step of the line where it begins."""

    text: str
    confidence: float
    start: int


class Decoder:
    """Reads guesses about the letters of an alphabet, of which the first is that there is none."""

    def __init__(self, alphabet: Sequence[str]) -> None:
        self._alphabet = alphabet
        self._space = alphabet.index(" ")
        self._rare = {alphabet.index(usual): alphabet.index(rare) for usual, rare in _RARE.items()}

    def letters(self, chances: "NDArray[float32]") -> list[Letter]:
        """The letters of a line, spaces among them; doubtful accents stand behind their letters.

        `chances` has a row for each step of the line and a column for each letter.
        """
        import numpy as np

        # Which letter it is may be unclear where it is clear that there is one.
        guesses = chances[:, 1:].argmax(1) + 1
        guesses[chances[:, 0] > 0.5] = 0
        edges = np.flatnonzero(np.diff(guesses, prepend=0, append=0))
        found: list[Letter] = []
        end = 0
        for start, stop in pairwise(edges.tolist()):
            guess = int(guesses[start])
            if not guess:
                continue
            apart = float(chances[end:start, self._space].sum())
            if found and apart >= _SPACE and " " not in (found[-1].text, self._alphabet[guess]):
                found.append(Letter(" ", min(1.0, apart), end))
            found.append(self._letter(guess, chances[start:stop], start))
            end = stop
        return found

    def _letter(self, guess: int, chances: "NDArray[float32]", start: int) -> Letter:
        confidence = float(chances[:, guess].max())
        rare = self._rare.get(guess)
        if rare is not None and chances[:, rare].max() >= _TELLING:
            guess = rare
        letter = self._alphabet[guess]
        return Letter(_parted(letter) if confidence < _SURE else letter, confidence, start)


def _parted(letter: str) -> str:
    """A Latin letter and, as a sign of its own, its accent."""
    parted = unicodedata.normalize("NFD", letter)
    return parted if parted[:1].isascii() else letter


def covered(found: Sequence[Letter], ink: "NDArray[bool_]") -> float:
    """The part of a line's ink that was read, 0 to 1; `ink` says in which steps there is any.

    Letters of a script that the recogniser does not know are no letters to it, and what it reads
    between them may be certain.
    """
    import numpy as np

    read = np.zeros(len(ink), bool)
    for letter in found:
        if not letter.text.isspace():
            read[max(0, letter.start - _REACH) : letter.start + _REACH + 1] = True
    return float((ink & read).sum() / max(1, ink.sum()))
