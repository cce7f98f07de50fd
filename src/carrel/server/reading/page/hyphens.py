"""Rejoins words hyphenated at line ends."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import reduce

from carrel.server.reading.page.elements import Line
from carrel.server.reading.page.table import MarkedText

_SOFT_HYPHENS = ("\u00ad", "\ufffe")
_HYPHENS = ("-", "\u2010", *_SOFT_HYPHENS)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SHORT = 4
"""Letters of the shortest words that are no syllables of others."""
_UNSPACED = re.compile("[\u3001-\u30ff\u3400-\u9fff\uff01-\uff60]{2}")
"""Signs of scripts without blanks between words."""


def ends_in_hyphen(text: str) -> bool:
    """Return whether a line ends in a hyphen within a word or compound."""
    return text.endswith(_HYPHENS) and text[-2:-1].isalnum()


def first_word(text: str) -> str:
    """Return what a line cannot break within at its beginning."""
    return text[:2] if _UNSPACED.match(text) else text.split(" ", 1)[0]


def join_lines(lines: Iterable[Line], words: Collection[str] = ()) -> str:
    """Join consecutive lines into one paragraph and rejoin words split at line ends.

    `words` are those of the page, in lower case.
    """
    return reduce(lambda text, line: join_texts(text, line.text.strip(), words), lines, "")


def join_texts(text: str, addition: str, words: Collection[str] = ()) -> str:
    """Join a text with its continuation and rejoin the word that the break splits."""
    if not ends_in_hyphen(text):
        spaced = addition[:1] < "\u3001" or not _UNSPACED.fullmatch(text[-1:] + addition[:1])
        blank = " " if spaced else ""
        return f"{text}{blank}{addition}".strip()
    if text.endswith(_SOFT_HYPHENS) or (
        text[-2].isalpha() and addition[:1].islower() and not _is_compound(text, addition, words)
    ):
        return text[:-1] + addition
    # Keep the hyphen: Anglo-Saxon, 1914-1918.
    return text + addition


def join_marked(text: MarkedText, addition: MarkedText) -> MarkedText:
    """Join a text with its continuation, and their marks."""
    gap = len(join_texts(text.text, addition.text)) - len(text.text) - len(addition.text)
    if gap < 0:
        text = text.part(0, len(text.text) - 1)
    return text.followed_by(addition, " " * gap)


def words_of(texts: Sequence[str]) -> frozenset[str]:
    """Return the words within lines in lower case, if any line ends in a hyphen.

    Without a hyphen, the first and the last word may be parts of one.
    """
    found = map(_WORD.findall, map(str.lower, texts)) if any(map(ends_in_hyphen, texts)) else ()
    return frozenset(
        word
        for words in found
        for number, word in enumerate(words, 1)
        if 1 < number < len(words) or "-" in word
    )


def _is_compound(before: str, after: str, words: Collection[str]) -> bool:
    """Return whether the words at the line end are two, or one of the `words` with a hyphen."""
    whole = _WORD.findall(f"{before.split()[-1]}{after.split()[0]}".lower())
    for word, (head, _, tail) in ((word, word.rpartition("-")) for word in whole):
        apart = min(len(head), len(tail)) >= _SHORT and head in words and tail in words
        if head and (word in words or len(head) == 1 or (apart and head + tail not in words)):
            return True
    return False
