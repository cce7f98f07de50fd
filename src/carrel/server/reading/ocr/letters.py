"""Corrects letters that the recogniser writes differently from the page."""

import re
import unicodedata
from collections.abc import Callable, Sequence

_NUMBER_FORMS = re.compile("[\u2160-\u2188\u2460-\u249b]")
"""Roman numerals and circled numbers that are one character each."""
_CZECH_OR_SLOVAK = re.compile("[ěřůľĺŕ]")
_ENOUGH = 3
"""Fewest Czech or Slovak letters on a page in one of these languages."""
_CARON = re.compile(r"(?<=\w)([dtlďťľ])['’](?=\w)|(?<=[^\W\d])([dtlďťľ])['’](?!\w)")
_WITH_CARON = {"d": "ď", "t": "ť", "l": "ľ"}
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

    def spelled(text: str) -> str:
        if not accented:
            text = _ACCENT.sub("", text)
        text = _NUMBER_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFC", text)
        return _czech_or_slovak(text) if czech else text.translate(_WITHOUT_CARON)

    return spelled


def _czech_or_slovak(text: str) -> str:
    """Join letter and apostrophe: d, t and l with a caron look like these two in print."""

    def joined(match: re.Match[str]) -> str:
        letter: str = match[1] or match[2]
        return _WITH_CARON.get(letter, letter)

    return _CARON.sub(joined, text)
