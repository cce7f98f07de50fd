"""The words of a text: as the full-text index sees them, and as a query asks for them."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_TERMS = 16
"""Maximum number of words of a query."""

# Han, kana and hangul: scripts in which words have no spaces between them, or no fixed ends.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_UNSPACED}]+")
_PIECE = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}]+")
_WORD = re.compile(r"\w+")
_SPELT = re.compile(f"[^\\W\\d_{_UNSPACED}]{{3,40}}")
_CODE_LETTERS = 4
"""Least length of a code."""
_YEAR = re.compile(r"(19|20)\d\d")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also an and any are as at be been before being but by can could did do
        does doing down each else ever for from had has have having he her here hers him his how i
        if in into is it its just me more most much must my no not of off on once one only or other
        our ours out over own same she should so some such than that the their them then there
        these they this those through to too under up us very was we were what when where which
        while who whom whose why will with within without would you your
        """,
    )
)


@dataclass(frozen=True)
class Term:
    """A word of a query."""

    text: str
    word: str | None
    """Its spelling; None in a script without spaces."""
    pairs: tuple[str, ...] = ()
    """In such a script, the pairs of adjacent characters in the segmented text."""
    is_prefix: bool = False
    """Whether the only pair is one character, with which others begin."""


def fold(text: str) -> str:
    """Return a word in small letters without accents, as the full-text index compares it."""
    parts = unicodedata.normalize("NFD", text.lower())
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare)


def vocabulary(texts: Iterable[str]) -> list[str]:
    """Return the distinct words of texts, sorted, for the correction of spelling."""
    return sorted({word for text in texts for word in _SPELT.findall(fold(text))})


def segment(text: str) -> str | None:
    """Return a text in a script without spaces as pairs of characters, or None for other texts."""
    if not _RUN.search(text):
        return None
    return " ".join(part for piece in _PIECE.findall(text) for part in _pairs(piece))


def terms(query: str) -> list[Term]:
    """Return the words of a query, each once.

    Stop words count only if there are no others.
    """
    found = _pieces(query)
    return [_term(piece) for piece in (_content(found) or found)[:MAX_TERMS]]


def content_words(text: str) -> list[str]:
    """Return the words of a text as the index compares them, each once, without stop words."""
    return _content(_pieces(text))


def _pieces(text: str) -> list[str]:
    words = _WORD.findall(fold(text))
    return list(dict.fromkeys(piece for word in words for piece in _PIECE.findall(word)))


def _content(pieces: Iterable[str]) -> list[str]:
    return [piece for piece in pieces if piece not in _STOP_WORDS]


def is_code(word: str) -> bool:
    """Return whether a word is a number or code that stands for one thing alone, as 4711 or ab12.

    Years are left out: a question may name one that its answer does not.
    """
    digits = sum(letter.isdigit() for letter in word)
    return digits > 0 and len(word) >= _CODE_LETTERS and not _YEAR.fullmatch(word)


def _term(piece: str) -> Term:
    if not _RUN.match(piece):
        return Term(piece, piece)
    return Term(piece, None, tuple(_pairs(piece)), is_prefix=len(piece) == 1)


def _pairs(piece: str) -> list[str]:
    """Return the overlapping bigrams of a run, or any other piece unchanged."""
    if not _RUN.match(piece) or len(piece) == 1:
        return [piece]
    return [piece[start : start + 2] for start in range(len(piece) - 1)]
