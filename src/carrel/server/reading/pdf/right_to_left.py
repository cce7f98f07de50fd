"""Lines of Arabic and Hebrew in logical order, from the places of their letters.

Neither liteparse nor PDFium gives these in an order to rely on: some PDFs store what is seen from
left to right, others what is read. The places are the same in both. Letters are put in the order
in which they are seen, and Unicode's bidirectional algorithm, which is its own inverse for all
but rare cases, puts them in the order in which they are read.
"""

import ctypes
import re
import statistics
import unicodedata
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple

from bidi.algorithm import get_display
from pypdfium2.raw import FPDFText_GetCharAngle, FPDFText_GetCharOrigin, FPDFText_GetUnicode

from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.lines import runs_from_right
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.pdf.page_space import PageSpace

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ARABIC_FORMS = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]+")
"""Letters in the forms that they have in a word; those of Hebrew have a meaning of their own."""
_CONTROLS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SAME_LINE = 0.5
"""Letters are on one line if their baselines differ by less than this part of the usual height."""
_WORD, _WIDE = 0.05, 0.3
"""Narrowest gap between words, as a part of the height of a line: between those that PDFium parts
and any others.
"""
_BESIDE_BRACKET = 0.15
_APART = 1.0
"""Narrowest gap between texts side by side, as a part of the height of a line."""
_BRACKETS = ("([{<«", ")]}>»")
_UNMIRRORED = "◐◑◒◓◔◕◖◗◰◱"
"""Stand for brackets that are written as they are read: signs that are never mirrored."""
_LAM_ALEF = re.compile("^([اأإآ])(ل)$")
"""The letters of a ligature, turned: no other has these two."""
_UNPAIRED = re.compile(r"[()]([^()]*)[()]")
_LEVEL = 0.1
"""Radians. Letters at a greater angle are left as they are."""


class _Letter(NamedTuple):
    """A letter, or the letters of a ligature, with its marks.

    `base` is the height of its baseline, `word` the number of its word in PDFium's order.
    """

    text: str
    box: Box
    base: float
    word: int


def with_logical_order(
    items: Sequence[TextItem], text_page: Any, space: PageSpace
) -> list[TextItem]:
    """Replace the items on lines with right-to-left text by items in logical order.

    An item is a piece of a line without wide gaps; its words are in logical order, too.
    """
    lines = _lines(_letters(text_page, space))
    lines = [line for line in lines if any(RIGHT_TO_LEFT.search(one.text) for one in line)]
    # Some PDFs store a bracket as it is read, and the first from the left closes, others as seen.
    firsts = [next((one.text for one in line if _has_bracket(one)), "") for line in lines]
    as_read = sum((first in _BRACKETS[1]) - (first in _BRACKETS[0]) for first in firsts) > 0
    from_right = runs_from_right(item.text for item in items)
    pieces = chain.from_iterable(map(_pieces, lines))
    made = [_item(piece, items, from_right=from_right, as_read=as_read) for piece in pieces]
    replaced = [Box.around(letter.box for letter in line) for line in lines]
    kept = [item for item in items if not any(box.holds_centre(item.box) for box in replaced)]
    return [*kept, *made]


def _letters(text_page: Any, space: PageSpace) -> Iterator[_Letter]:
    """Yield the upright letters of a page; those of one glyph are one."""
    glyphs = defaultdict[tuple[float, float, int], list[tuple[float, int, str, Box]]](list)
    x, y = ctypes.c_double(), ctypes.c_double()
    word = 0
    for number in range(text_page.count_chars()):
        text = chr(FPDFText_GetUnicode(text_page, number))
        if text.isspace():
            # Its place may be that of any letter nearby.
            word += 1
            continue
        if _CONTROLS.match(text) or abs(FPDFText_GetCharAngle(text_page, number)) > _LEVEL:
            continue
        box = space.to_layout(text_page.get_charbox(number, loose=True))
        FPDFText_GetCharOrigin(text_page, number, x, y)
        # PDFium cuts the box of a glyph into slices for its letters, in the order of reading;
        # without slices, it turns the letters.
        glyphs[x.value, y.value, word].append((-box.centre[0], -number, text, box))
    for (left, up, word), parts in glyphs.items():
        text = _LAM_ALEF.sub(r"\2\1", "".join(part for _, _, part, _ in sorted(parts)))
        if not RIGHT_TO_LEFT.search(text):
            text = text[::-1]
        base = space.to_layout((left, up, left, up)).top
        box = Box.around(part[-1] for part in parts)
        yield _Letter(unicodedata.normalize("NFC", text), box, base, word)


def _lines(letters: Iterable[_Letter]) -> list[list[_Letter]]:
    """Return the letters by line, each line as it is seen from left to right."""
    lines, marks = list[list[_Letter]](), list[_Letter]()
    letters = sorted(letters, key=lambda letter: letter.base)
    same = _SAME_LINE * statistics.median(one.box.height for one in letters) if letters else 0
    for letter in letters:
        if unicodedata.combining(letter.text[0]):
            marks.append(letter)
        elif lines and letter.base - lines[-1][0].base < same:
            lines[-1].append(letter)
        else:
            lines.append([letter])
    for line in lines:
        line.sort(key=lambda letter: letter.box.centre[0])
    # Each mark belongs to the letter that it is set on.
    bases = [line[0].base for line in lines]
    for mark in marks if lines else ():
        line = lines[max(0, bisect(bases, mark.base + mark.box.height) - 1)]
        x = mark.box.centre[0]
        far = [max(one.box.left - x, x - one.box.right) for one in line]
        number = far.index(min(far))
        text = unicodedata.normalize("NFC", line[number].text + mark.text)
        line[number] = line[number]._replace(text=text)
    return lines


def _has_bracket(*letters: _Letter) -> bool:
    """Return whether a letter is a bracket, which PDFium may take to the word at its other side."""
    return any(letter.text in "".join(_BRACKETS) for letter in letters)


def _pieces(line: Sequence[_Letter]) -> Iterator[list[_Letter]]:
    """Split a line at wide gaps, with a space between words."""
    height = max(letter.box.height for letter in line)
    piece = [line[0]]
    for before, letter in pairwise(line):
        gap = letter.box.left - before.box.right
        blank = _WIDE if letter.word == before.word else _WORD
        blank = _BESIDE_BRACKET if _has_bracket(before, letter) else blank
        if gap > _APART * height:
            yield piece
            piece = []
        elif gap > blank * height:
            piece.append(letter._replace(text=" "))
        piece.append(letter)
    yield piece


def _item(
    piece: Sequence[_Letter], items: Sequence[TextItem], *, from_right: bool, as_read: bool
) -> TextItem:
    """Return a piece of a line as an item, in the font and size of the item that was there."""
    box = Box.around(letter.box for letter in piece)
    to_left = sum(RIGHT_TO_LEFT.match(letter.text) is not None for letter in piece)
    letters = sum(letter.text[0].isalpha() for letter in piece)
    base = "R" if from_right or 2 * to_left > letters else "L"
    text = _read([letter.text for letter in piece], base, as_read=as_read)
    there = [item for item in items if box.holds_centre(item.box) or item.box.holds_centre(box)]
    like = max(there, key=lambda item: len(item.text), default=None)
    top, height = (like.y, like.height) if like else (box.top, box.height)
    size, font = (like.size, like.font) if like else (0.0, "")
    by_word = groupby(piece, key=lambda letter: letter.text == " ")
    places = [Box.around(one.box for one in word) for is_space, word in by_word if not is_space]
    words = [PlacedWord("", place.left, top, place.width, height) for place in places]
    words = words[::-1] if base == "R" else words
    return TextItem(text, box.left, top, box.width, height, 0.0, font, size, words)


def _read(seen: Sequence[str], base: str, *, as_read: bool) -> str:
    """Return the letters from left to right in the order in which they are read."""
    # Those of a ligature, and marks on a letter, are turned with the line.
    text = "".join(one[::-1] if RIGHT_TO_LEFT.match(one) else one for one in seen)
    brackets = "".join(_BRACKETS)
    if as_read:
        text = text.translate(str.maketrans(brackets, _UNMIRRORED))
    text = " ".join(str(get_display(text, base_dir=base)).split())
    text = text.translate(str.maketrans(_UNMIRRORED, brackets))
    # PDFium turns brackets round, but not those beside a Latin word.
    if ("(" in text) != (")" in text):
        text = _UNPAIRED.sub(r"(\1)", text)
    return _ARABIC_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
