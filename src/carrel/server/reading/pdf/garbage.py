"""Garbage in text layers: a font may map its glyphs to no letters, or to wrong ones.

Detected by patterns that occur in no language, so the language need not be known.
"""

import re
import unicodedata
from collections import Counter

_UNMAPPED = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\ue000-\uf8ff\ufffd-\uffff](?<!(?<!\S)[\0-\uf8ff](?!\S))"
)
"""Characters for glyphs without a known letter, but for bullets and signs that stand alone."""
_MOST_UNMAPPED = 0.035
"""Largest fraction of unmapped glyphs on a page: bullets and ornaments are unmapped too."""
_MANY_UNMAPPED = 0.3
"""The same of a font that is broken; its other glyphs have wrong letters."""
_SCRIPTS, _STRAY = 4, 0.05
"""Most scripts of a page, those of Japanese and Latin, and largest fraction of other letters."""
_NOT_ASCII, _WORD = re.compile("[^\0-\x7f]"), re.compile(r"[^\W_]{4,}")
_BLANKS = str.maketrans({code: " " for code in range(128) if not chr(code).isalnum()})
"""Parts the words of plain ASCII, which is faster."""
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
_LATIN = b"abcdefghijklmnopqrstuvwxyz"
_LETTERS = 200
"""Fewest letters that show their frequencies."""


def is_garbage(text: str) -> bool:
    """Return whether the text of a page cannot be what is printed on it."""
    if count_unmapped(text) > _MOST_UNMAPPED * (len(text) - text.count(" ")):
        return True
    known = text.translate(_BLANKS).split() if text.isascii() else _WORD.findall(text)
    words = [word for word in known if len(word) > 3]
    if len(words) < _ENOUGH:
        return False
    written = " ".join(words)
    # Ignore accents in word patterns: é is as usual as e.
    plain = written
    if not written.isascii():
        apart = unicodedata.normalize("NFD", written)
        plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    # Most words are in small letters alone, which is as usual as it gets.
    most = _MOST_UNUSUAL * len(words)
    other = len(plain) - _count(plain, b" " + _LATIN)
    usual = other <= most or len(words) - len(_USUAL.findall(plain)) <= most
    return not usual or _odd_letters(written, plain) or _mixed_scripts(written)


def is_unmapped(text: str) -> bool:
    """Return whether a good part of a text's glyphs have no known letter."""
    return count_unmapped(text) > _MANY_UNMAPPED * len(text)


def count_unmapped(text: str) -> int:
    """Return how many of a text's glyphs have no known letter."""
    return 0 if text.isprintable() and "\ufffd" not in text else len(_UNMAPPED.findall(text))


def _mixed_scripts(text: str) -> bool:
    """Return whether letters of many scripts stand side by side."""
    letters = filter(str.isalpha, _NOT_ASCII.findall(text))
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    stray = scripts.total() - sum(count for _, count in scripts.most_common(_SCRIPTS))
    return stray > _STRAY * len(text)


def _odd_letters(text: str, plain: str) -> bool:
    """Return whether the letter frequencies of a text in Latin script fit no language."""
    plain = plain.lower()
    letters = _count(plain, _LATIN)
    if letters < _LETTERS:
        return False
    ascii_letters = letters if text.isascii() else _count(text.lower(), _LATIN)
    vowels = _count(plain, b"aeiouy")
    return letters - ascii_letters > _MOST_ACCENTED * letters or vowels < _LEAST_VOWELS * letters


def _count(text: str, letters: bytes) -> int:
    """Return how many characters of a text are among some of ASCII."""
    told = text.encode("ascii", "ignore")
    return len(told) - len(told.translate(None, letters))
