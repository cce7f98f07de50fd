"""Rejoins words that liteparse breaks because their letters are set apart: "E x c ell e n t"."""

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from carrel.server.reading.page.elements import split_when
from carrel.server.reading.page.parsed import PlacedWord, TextItem

_SHORT = 3.0
"""Largest mean length in letters of the pieces of broken words."""
_SINGLE = 0.6
"""Fewest single letters among pieces as far apart as words, as a part of them."""
_FEWEST = 4
"""Fewest pieces that show how a line is set."""
_JUMP = 1.7
"""Least ratio of the gaps between words to those between letters."""
_EVEN = 1.35
"""Largest ratio between the gaps of one word alone on its line."""
_SPACE = 0.22
"""Width of a space, as a part of the line's height: letters that far apart are pieces each."""
_COLUMN = 4.5
"""Least gap between columns, as a multiple of the usual one."""
_WIDEST = 0.6
"""Widest gap between letters, as a part of the line's height: columns are further apart."""
_TURNED = 0.12
"""Narrowest gap between words on a line that runs up or down, as a part of its thickness."""
_TOUCHING = 0.1
"""Widest gap between letters of scripts without blanks, as a part of the line's height."""
_THAI = re.compile(r"[\u0e00-\u0e7f] [\u0e00-\u0e7f]")
_AM = re.compile("([ก-ฮ][่-๋]?) า")


def join_letters(items: Sequence[TextItem]) -> None:
    """Join the pieces of words in lines with two widths of white space, or single letters.

    The gaps show which pieces belong together; no language is known.
    """
    for item in items:
        if round(item.rotation) in (90, 270):
            _join_near(item, _gap_along, _TURNED * item.width)
        elif not item.text.isascii() and _THAI.search(item.text):
            _join_near(item, _gap, _TOUCHING * item.height)
    rows: dict[tuple[int, float], list[TextItem]] = defaultdict(list)
    for item in items if any(_is_broken(item.text) for item in items) else ():
        if not item.rotation:
            rows[round(item.y + item.height), item.size].append(item)
    for row in rows.values():
        if any(_is_broken(item.text) for item in row):
            row.sort(key=lambda item: item.x)
            words = [word for item in row for word in item.words]
            gaps = [_letter_gap(part, row[0].height) for part in _parts(words)]
            if any(gaps):
                for item in row:
                    _join(item, max(gaps))


def _join_near(item: TextItem, gap: Callable[[PlacedWord, PlacedWord], float], most: float) -> None:
    """Join letters at most so far apart: fonts give some Thai marks the code of a blank. A vowel
    that stands for itself after one has lost its ring.
    """
    text = "".join(
        " " * (gap(before, word) > most) + word.text
        for before, word in pairwise([*item.words[:1], *item.words])
    )
    whole = iter(_AM.sub(r"\1ำ", item.text).replace(" ", ""))
    if text.replace(" ", "") == item.text.replace(" ", ""):
        item.text = "".join(" " if sign == " " else next(whole) for sign in text)


def _gap_along(word: PlacedWord, following: PlacedWord) -> float:
    """Return how far apart words are on a line that runs up or down."""
    down, up = following.y - word.y - word.height, word.y - following.y - following.height
    return max(down, up, abs(following.x - word.x))


def _is_broken(text: str) -> bool:
    spaces = text.count(" ")
    return spaces > 0 and len(text) - spaces <= _SHORT * (spaces + 1)


def _gap(word: PlacedWord, following: PlacedWord) -> float:
    return following.x - word.x - word.width


def _are_letters(word: PlacedWord, following: PlacedWord) -> bool:
    return word.text[-1:].isalpha() and following.text[:1].isalpha()


def _parts(words: Sequence[PlacedWord]) -> list[list[PlacedWord]]:
    """Split a line at gaps between columns."""
    column = _COLUMN * statistics.median(_gap(*pair) for pair in pairwise(words))
    return split_when(words, lambda word, following: _gap(word, following) > column)


def _letter_gap(words: Sequence[PlacedWord], height: float) -> float:
    """Return the widest gap between letters of one word on a line, 0 if it has none."""
    pairs = [pair for pair in pairwise(words) if _are_letters(*pair)]
    gaps = sorted(_gap(*pair) for pair in pairs)
    text = " ".join(word.text for word in words)
    few = len(words) < _FEWEST or 2 * len(pairs) < len(words)
    if few or not _is_broken(text) or gaps[0] <= 0:
        return 0
    single = sum(len(word.text) == 1 for word in words) >= _SINGLE * len(words)
    widest, wide = max(pairwise([*gaps, gaps[-1]]), key=lambda pair: pair[1] - pair[0])
    if wide < max(_JUMP * widest, _SPACE * height):
        widest = gaps[-1]
        if widest > _EVEN * gaps[0] or not (single and _is_one_word(words)):
            return 0
    return widest if widest <= (_WIDEST if single else _SPACE) * height else 0


def _is_one_word(pieces: Sequence[PlacedWord]) -> bool:
    """Return whether letters are those of a word, not of an alphabet."""
    letters = [piece.text for piece in pieces]
    return len(letters) > _FEWEST and all(map(str.isalpha, letters)) and letters != sorted(letters)


def _join(item: TextItem, widest: float) -> None:
    """Join the words of an item that are no further apart than `widest`."""
    if len(item.words) != len(item.text.split()):
        return
    words = list(item.words[:1])
    for word in item.words[1:]:
        last = words[-1]
        if _are_letters(last, word) and _gap(last, word) <= widest:
            top, bottom = min(last.y, word.y), max(last.y + last.height, word.y + word.height)
            width = word.x + word.width - last.x
            words[-1] = PlacedWord(last.text + word.text, last.x, top, width, bottom - top)
        else:
            words.append(word)
    if len(words) < len(item.words):
        item.words = words
        item.text = " ".join(word.text for word in words)
