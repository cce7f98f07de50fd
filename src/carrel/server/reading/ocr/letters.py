"""Letters that the recogniser writes in another way than they stand on the page."""

import re
import unicodedata
from collections.abc import Callable, Sequence

_NUMBER_FORMS = re.compile("[\u2160-\u2188\u2460-\u249b]")
"""Roman numerals and numbers in circles as one sign each."""
_CZECH_OR_SLOVAK = re.compile("[ěřůľĺŕ]")
_ENOUGH = 3
"""Letters of a language that a page must have to be taken for one in it."""
_CARON = re.compile(r"(?<=\w)([dtlďťľ])['’](?=\w)|(?<=[^\W\d])([dtlďťľ])['’](?!\w)")
_WITH_CARON = {"d": "ď", "t": "ť", "l": "ľ"}
_WITHOUT_CARON = str.maketrans("ďť", "dt")
_ACCENTED = re.compile("[\u00c0-\u017f]")
_ACCENT = re.compile("[\u0300-\u036f]")
_SELDOM = 300
"""A page with fewer accents than one in so many letters is in a language that has none."""


def speller(texts: Sequence[str]) -> Callable[[str], str]:
    """Sets right the letters of a page with these texts: each of them, and each of its words.

    Accents that stand as signs of their own are doubtful: specks or the line above, perhaps.
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
    """Small letters with a caron are printed with an apostrophe, and read as two signs."""

    def joined(match: re.Match[str]) -> str:
        letter: str = match[1] or match[2]
        return _WITH_CARON.get(letter, letter)

    return _CARON.sub(joined, text)
