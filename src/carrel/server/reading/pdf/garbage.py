"""Garbage in text layers: a font may map its glyphs to no letters, or to wrong ones.

Detected by patterns that occur in no language, so the language need not be known.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_UNMAPPED = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\ue000-\uf8ff\ufffd-\uffff](?<!(?<!\S)[\uf020-\uf0ff](?!\S))"
)
"""Characters for glyphs without a known letter, but for signs of symbol fonts that stand alone."""
_MOST_UNMAPPED = 0.1
"""Largest fraction of unmapped glyphs on a page: bullets and ornaments are unmapped too."""
_FEW_UNMAPPED = 0.01
"""The same of a page that is suspected."""
_MANY_UNMAPPED = 0.3
"""The same of a font that is broken; its other glyphs have wrong letters."""
_STRAY = 0.05
"""Largest fraction of letters outside the two scripts of a page, the other being Latin for most."""
_WORD = re.compile(r"[^\W_]{4,}")
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


def is_garbage(text: str, *, suspected: bool = False) -> bool:
    """Return whether the text of a page cannot be what is printed on it.

    `suspected` by the parser, which takes addresses, lists of names and forms for garbage, too: the
    suspicion stands unless there are enough words to tell, hardly any unmapped glyphs, and letters
    of two scripts at most.
    """
    unmapped = 0 if text.isprintable() and "\ufffd" not in text else len(_UNMAPPED.findall(text))
    most = _FEW_UNMAPPED if suspected else _MOST_UNMAPPED
    if unmapped > most * (len(text) - text.count(" ")):
        return True
    known = text.translate(_BLANKS).split() if text.isascii() else _WORD.findall(text)
    words = [word for word in known if len(word) > 3]
    if len(words) < _ENOUGH or (suspected and _mixed_scripts(words)):
        return suspected
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
    return not usual or _odd_letters(written, plain)


def is_unmapped(text: str) -> bool:
    """Return whether a good part of a text's glyphs have no known letter."""
    return len(_UNMAPPED.findall(text)) > _MANY_UNMAPPED * len(text)


def _mixed_scripts(words: Iterable[str]) -> bool:
    """Return whether letters of many scripts stand side by side."""
    letters = "".join(words)
    # Those of ASCII are of two at most, with digits.
    if len(letters.encode("ascii", "ignore")) >= (1 - _STRAY) * len(letters):
        return False
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    return sum(count for _, count in scripts.most_common(2)) < (1 - _STRAY) * scripts.total()


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
