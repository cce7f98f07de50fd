"""Accents that a text layer has beside their letters, as typesetters draw them: `M¨uller`."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.parsed import TextItem

_ACCENTS = "`´¨ˆ˜¯˘˙¸˚˝˛ˇ"
_COMBINED = "\u0300\u0301\u0308\u0302\u0303\u0304\u0306\u0307\u0327\u030a\u030b\u0328\u030c"
_COMBINING = dict(zip(_ACCENTS, _COMBINED, strict=True))
_ACCENT = re.compile(f"[{_ACCENTS}]")
_MARK, _LETTER = f"(?P<mark>[{_ACCENTS}])", r"(?P<letter>[^\W\d_])"
_PAIRS = [re.compile(rf"\$[^$]*\$|{pair}") for pair in (_MARK + _LETTER, _LETTER + _MARK)]
"""A formula, or an accent before or after the letter that it is drawn over."""
_WORD = re.compile(r"\S+")
_DOTLESS = {"ı": "i", "ȷ": "j"}


def with_accents(
    items: Iterable[TextItem], lines: Iterable[Line], text_page: Any
) -> tuple[list[TextItem], list[Line]]:
    """Return a page's items and lines with the accents on their letters."""
    items, lines = list(items), list(lines)
    marked = [item for item in items if _ACCENT.search(item.text)]
    if not marked:
        return items, lines
    drawn = _drawn_over(text_page)

    def joined(found: re.Match[str]) -> str:
        return _accented(found["letter"], found["mark"]) if found[0] in drawn else found[0]

    def accented(text: str) -> str:
        for pair in _PAIRS:
            text = pair.sub(joined, text)
        return text

    for item in marked:
        item.text = accented(item.text)
        for number, word in reversed([*enumerate(item.words)]):
            if word.text in _COMBINING and _set_over(items, word.text, Box.of(word)):
                item.words = [*item.words[:number], *item.words[number + 1 :]]
                item.text = " ".join(w for n, w in enumerate(item.text.split()) if n != number)
    kept = [item for item in items if item.text]
    return kept, [line._replace(text=accented(line.text)) for line in lines]


def _drawn_over(text_page: Any) -> set[str]:
    """Return the accents with letters that stand below them: some texts have `´` for `'`."""
    text = text_page.get_text_range()
    found = set()
    for pair in (pair for kind in _PAIRS for pair in kind.finditer(text)):
        if pair["mark"] and _accented(pair["letter"], pair["mark"]):
            left, _, right, _ = text_page.get_charbox(pair.start("mark"))
            start, _, end, _ = text_page.get_charbox(pair.start("letter"))
            if start < (left + right) / 2 < end:
                found.add(pair[0])
    return found


def _accented(letter: str, accent: str) -> str:
    """Return a letter with an accent as one character, empty if there is none."""
    whole = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _COMBINING[accent])
    return whole if len(whole) == 1 else ""


def _set_over(items: Sequence[TextItem], accent: str, place: Box) -> bool:
    """Set an accent that stands alone on the letter below it; return whether there is one."""
    for item in sorted(items, key=lambda item: -item.box.shared_height(place)):
        texts = list(_WORD.finditer(item.text))
        if not item.box.meets(place) or len(texts) != len(item.words):
            continue
        for text, word in zip(texts, item.words, strict=True):
            box, x = Box.of(word), place.centre[0]
            if not box.left <= x <= box.right or text[0] == accent:
                continue
            at = text.start() + int((x - box.left) / box.width * len(text[0]))
            if whole := _accented(item.text[at : at + 1], accent):
                item.text = item.text[:at] + whole + item.text[at + 1 :]
                return True
    return False
