"""Garbage in text layers: a font may map its glyphs to no letters, or to wrong ones.

Detected by patterns that occur in no language, so the language need not be known.
"""

import re
import unicodedata

_UNMAPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ue000-\uf8ff\ufffd-\uffff]")
"""Characters for glyphs without a known letter."""
_MOST_UNMAPPED = 0.1
"""Largest fraction of unmapped glyphs on a page: bullets and ornaments are unmapped too."""
_WORD = re.compile(r"[^\W_]{4,}")
_ENOUGH = 20
"""Fewest words that show how a page is written."""
_USUAL = re.compile(
    r"(?<!\S)(?:\d*[a-z]+\d*|\d+|[A-Z][a-z]+(?:[A-Z][a-z]+)?|[A-Z]+[a-z]{0,2}\d*"
    r"|\S*[^\x00-\x7f]\S*)(?!\S)"
)
_MOST_UNUSUAL = 0.4
"""Largest fraction of words with letters, digits and capitals in no usual order."""
_MOST_ACCENTED = 0.5
"""Largest fraction of Latin letters with accents; in Vietnamese it is a third."""
_LEAST_VOWELS = 0.27
"""Smallest fraction of vowels among Latin letters; in most languages it is 0.4."""
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_LETTERS = 200
"""Fewest letters that show their frequencies."""


def is_garbage(text: str) -> bool:
    """Return whether the text of a page cannot be what is printed on it."""
    unmapped = len(_UNMAPPED.findall(text))
    if unmapped > _MOST_UNMAPPED * (len(text) - text.count(" ")):
        return True
    words = _WORD.findall(text)
    if len(words) < _ENOUGH:
        return False
    written = " ".join(words)
    # Ignore accents in word patterns: é is as usual as e.
    plain = written if written.isascii() else _drop_accents(written)
    usual = len(_USUAL.findall(plain))
    return usual < (1 - _MOST_UNUSUAL) * len(words) or _odd_letters(written, plain)


def _odd_letters(text: str, plain: str) -> bool:
    """Return whether the letter frequencies of a text in Latin script fit no language."""
    plain = plain.lower()
    letters = sum(map(plain.count, _LATIN))
    if letters < _LETTERS:
        return False
    ascii_letters = letters if text.isascii() else sum(map(text.lower().count, _LATIN))
    vowels = sum(map(plain.count, "aeiouy"))
    return letters - ascii_letters > _MOST_ACCENTED * letters or vowels < _LEAST_VOWELS * letters


def _drop_accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
