"""How much of a page was read, and in which order."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_PLAIN = str.maketrans({
    **dict.fromkeys("‘’‚‛´`", "'"),
    **dict.fromkeys("“”„‟", '"'),
    **dict.fromkeys("‐‑‒–—―", "-"),
})  # fmt: skip
_JOINT = 2
"""So many words of each of two lines are looked at to see whether they follow each other."""
_SYNTAX = re.compile(r"^\s*#{1,6} |\\(?=\W)|\||!\[[^\]]*\]\([^)]*\)", re.MULTILINE)


def words(text: str) -> list[str]:
    """The words of a text or of Markdown: what stands between spaces and has a letter or digit.

    Punctuation counts; only the shapes of quotes and dashes do not.
    """
    plain = unicodedata.normalize("NFKC", _SYNTAX.sub(" ", text)).translate(_PLAIN)
    return [word for word in plain.split() if any(letter.isalnum() for letter in word)]


def word_f1(read: Sequence[str], truth: Sequence[str]) -> float:
    """The harmonic mean of how many words are right and how many were found, in any order."""
    shared = (Counter(read) & Counter(truth)).total()
    return 2 * shared / max(1, len(read) + len(truth))


def order(read: Sequence[str], lines: Sequence[Sequence[str]]) -> float:
    """The part of neighbouring lines of which the second was read directly after the first.

    The last words of one line must be followed by the first words of the next. Where one of these
    words was not read at all, the pair says nothing about order and is left out. Nor do accents and
    punctuation: letters that were misread must not look like lines that were moved.
    """
    read, lines = _bare(read), [_bare(line) for line in lines]
    known = set(read)
    joints = Counter(
        (*above[-_JOINT:], *below[:_JOINT])
        for above, below in pairwise(lines)
        if known.issuperset((*above[-_JOINT:], *below[:_JOINT]))
    )
    runs = Counter(
        tuple(read[start : start + length])
        for length in range(2, 2 * _JOINT + 1)
        for start in range(len(read) - length + 1)
    )
    return (joints & runs).total() / max(1, joints.total())


def _bare(words: Sequence[str]) -> list[str]:
    """The words' letters and digits without their accents, in small letters."""
    plain = unicodedata.normalize("NFKD", " ".join(words)).casefold()
    kept = "".join(letter for letter in plain if letter.isalnum() or letter == " ")
    return kept.split(" ")
