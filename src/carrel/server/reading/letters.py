"""Letters that the recogniser writes in another way than they stand on the page."""

import re
import unicodedata
from collections.abc import Callable, Iterable

_NUMBER_FORMS = re.compile("[\u2160-\u2188\u2460-\u249b]")
"""Roman numerals and numbers in circles as one sign each."""
_CZECH_OR_SLOVAK = re.compile("[ěřůľ]")
_ENOUGH = 3
"""Letters of a language that a page must have to be taken for one in it."""
_CARON = re.compile(r"(?<=\w)([dtl])['’](?=\w)|(?<=[^\W\d])([dtl])['’](?!\w)")
_WITH_CARON = {"d": "ď", "t": "ť", "l": "ľ"}


def speller(texts: Iterable[str]) -> Callable[[str], str]:
    """Sets right the letters of a page with these texts: each of them, and each of its words."""
    found = sum(len(_CZECH_OR_SLOVAK.findall(text)) for text in texts)
    return _czech_or_slovak if found >= _ENOUGH else _plain


def _plain(text: str) -> str:
    return _NUMBER_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _czech_or_slovak(text: str) -> str:
    """Small letters with a caron are printed with an apostrophe, and read as two signs."""
    return _CARON.sub(lambda match: _WITH_CARON[match[1] or match[2]], _plain(text))
