"""Doubtful words of a line that one model has read, for a better one to read again."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from carrel.server.reading.ocr.decoding import Letter

_SURE = 0.9
"""Smallest confidence of every letter of a sure word, and of the space before it."""

_ALIKE = frozenset("Il|")
"""Letters that look alike in many fonts: only the words around them tell "Il" from "II"."""


class Doubt(NamedTuple):
    """Words to read again: their letters, and the steps of the line where they stand."""

    letters: slice
    start: int
    end: int

    @property
    def length(self) -> int:
        """In steps."""
        return self.end - self.start


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

    def between(number: int) -> int:
        """Return the step between a word and the one before it."""
        if number in (0, len(words)):
            return len(ink) if number else 0
        last, first = found[words[number - 1].stop - 1], found[words[number].start]
        return sum(widest_gap(ink, last.start, first.start)) // 2

    def grown(first: int, last: int) -> tuple[int, int]:
        """Return a run of words with those around it, up to `least` steps."""
        while between(last + 1) - between(first) < least and last + 1 - first < len(words):
            if last + 1 < len(words):
                last += 1
            else:
                first -= 1
        return first, last

    again = [False] * len(words)
    for first, last in _runs([any(unsure[max(0, n - 1) : n + 2]) for n in range(len(words))]):
        first, last = grown(first, last)
        again[first : last + 1] = [True] * (last + 1 - first)
    return [
        Doubt(slice(words[first].start, words[last].stop), between(first), between(last + 1))
        for first, last in _runs(again)
    ]


def widest_gap(ink: Sequence[bool], last: int, first: int) -> tuple[int, int]:
    """Start and end of the widest blank between the steps of two letters."""
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


def _words(found: Sequence[Letter]) -> list[list[int]]:
    """Return the indexes of each word's letters."""
    groups = groupby(range(len(found)), lambda index: found[index].text.isspace())
    return [list(group) for blank, group in groups if not blank]


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and last index of each run of flags that are set."""
    groups = [list(group) for flag, group in groupby(range(len(flags)), flags.__getitem__) if flag]
    return [(group[0], group[-1]) for group in groups]
