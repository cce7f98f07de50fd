"""Converts liteparse's text items to lines."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.parsed import Link, PlacedWord, TextItem
from carrel.server.reading.page.table import LinkMark

BULLETS = "•◦▪▸▶‣●○◎◯■□◆◇★☆※·∙➢➤►✓✔❖\uf020-\uf0ff"
"""Signs before list items, for a class of a pattern; the last are letters of symbol fonts."""
_LEADING = 1.17
"""Line height of most fonts, as a multiple of their size."""
_LEAST_DOTS = 4
_LEADER = re.compile(rf"(?:\s?[.·]){{{_LEAST_DOTS + 1},}}\s*")
"""Dot leader before a page number in a table of contents."""
_DRAWN_HYPHEN = re.compile("\u00ad(?=.)")
"""Soft hyphen within a line: some fonts have no other, and files leave out those not drawn."""
_PITCH = 0.08
"""Tolerance for glyph widths of a monospaced font, as a part of the width."""
_RAISED = 1.05
"""A word higher than others on its line by this factor has a raised or larger glyph."""
_NOTE = re.compile(r"(?<=[^\s\d+=/<>(−-])(\d{1,2}|[*†‡§])(?=[.,;:)\]]?(?:\s|$))")
_NOTE_SIGN = re.compile(r"[\d*†‡§]")
"""Pre-filter for `_NOTE`: far faster, and matches few lines."""
_TOGETHER = 0.1
"""Least white space between words, as a part of the line's height."""
_SAME_SIZE = 0.05
"""Size tolerance for lines of one text, as a part of their size."""
_SET_TIGHT = 0.6
"""Maximum gap between lines of one text, as a part of their height."""
_INITIAL = 2.0
"""Least height of the large first letter of a text, as a multiple of its lines'."""
FORMULA = "$$"
"""Start of a formula on a line of its own."""
_FORMULA = re.compile(r"\$(?! )[^$]*[\\^_{][^$]*\$")
_BOLD = re.compile(
    r"bold|black|heavy|demi|-medi(?!um)|\bcm(ss)?bx|\bcmb\d|\bsf(bx|bi|sx)", re.IGNORECASE
)
"""The names of TeX's fonts do not say it: CMBX and SFBX are bold, Nimbus is by “-Medi”."""
_MONO = re.compile(
    r"mono|nimbusmon|courier|consol|menlo|typewriter|cmtt|sltt|sftt|xtt|fixed|code", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obliq|slant|kursiv|-it\b|cm(ss)?ti|cmsl|sfti", re.IGNORECASE)
_LABEL = (
    r"(fig(ure|ura|\.)?|table|tab|plate|chart|graph|map|box|exhibit|diagram|abb(ildung)?|tabelle"
    r"|grafik|diagramm|tableau|graphique|tabla|gráfico|tabella|figuur|tabel)"
    r"\.?\s*([A-Z]{1,3}[. -]?)?\d+([.-]\s?\d+)*[a-z]?"
)
CAPTION = re.compile(rf"{_LABEL}([.:]|$| [–—|-] )", re.IGNORECASE)
"""Start of a caption, however it is set."""
LABELLED = re.compile(rf"{_LABEL}\b", re.IGNORECASE)
"""Start of a caption in type that stands out; in plain text such words begin sentences."""


def item_line(item: TextItem, links: Sequence[Link] = ()) -> Line | None:
    """Return the line of an item, or None without text."""
    text = item.text.strip()
    if not text:
        return None
    if "\u00ad" in text:
        text = _DRAWN_HYPHEN.sub("-", text)
    if text.count(".") > _LEAST_DOTS or "··" in text:
        text = _LEADER.sub(" … ", text).strip()
    box = item.box
    marks = _links(item, text, box, links) if links else []
    if _NOTE_SIGN.search(text):
        marks += _notes(item, text)
    bold, mono, italic = font_style(item.font)
    mono = mono and _is_even(item)
    return Line(text, box, _size(item), (), bold, mono, tuple(marks), italic, item.run_in)


def _size(item: TextItem) -> float:
    """Return the font size of an item. The height of its box depends on the letters in it."""
    size, height = item.size, item.height
    # Some files declare one point for every font and scale it.
    known = 0.6 * size <= height <= 1.6 * size or item.text.startswith(FORMULA)
    return size if known else height / _LEADING


def _is_even(item: TextItem) -> bool:
    """Return whether all glyphs are as wide as the first word's, the only one `font` describes."""
    if not item.words:
        return True
    first = item.words[0]
    wide, usual = first.width / max(1, len(first.text)), item.width / max(1, len(item.text))
    return abs(wide - usual) < _PITCH * wide


def _notes(item: TextItem, text: str) -> Iterator[LinkMark]:
    """Note marks: raised digits and signs at the end of words."""
    words = _placed_words(item, text) if _NOTE.search(text) else []
    least = _RAISED * min((word.height for _, word in words), default=0.0)
    for match, word in words:
        note = _NOTE.search(match[0]) if word.height > least else None
        if note:
            yield LinkMark(note.start(), note.end()).shifted(match.start())


def _placed_words(item: TextItem, text: str) -> list[tuple[re.Match[str], PlacedWord]]:
    """Return the words of an item, each with its place in the text; none if that is not known."""
    # Formulas in a line have no words.
    plain = _FORMULA.sub(lambda match: " " * len(match[0]), text) if "$" in text else text
    words = list(re.finditer(r"\S+", plain))
    return list(zip(words, item.words, strict=True)) if len(words) == len(item.words) else []


def text_turn(items: Sequence[TextItem]) -> int:
    """Return the clockwise rotation of most text of a page: 0, 90, 180 or 270 degrees."""
    if not any(item.rotation for item in items):
        return 0
    turns = [round(item.rotation / 90) % 4 * 90 for item in items]
    letters = Counter(turn for turn, item in zip(turns, items, strict=True) for _ in item.text)
    turn = max(letters, key=letters.__getitem__, default=0)
    # A stamp along an edge may have more letters than the rest of a scan's digital text.
    return turn if 2 * turns.count(turn) > len(turns) else 0


def _links(item: TextItem, text: str, box: Box, links: Sequence[Link]) -> list[LinkMark]:
    """Mark the words of a line inside the boxes of links."""
    middle = box.centre[1]
    beside = [link for link in links if link.box.top <= middle <= link.box.bottom]
    words = _placed_words(item, text) if beside else []
    held = (
        ([m for m, word in words if place.left <= word.x + word.width / 2 <= place.right], url)
        for place, url in beside
    )
    return [LinkMark(inside[0].start(), inside[-1].end(), url) for inside, url in held if inside]


def runs_from_right(texts: Iterable[str]) -> bool:
    """Return whether most letters belong to a right-to-left script."""
    whole = "".join(texts)
    if whole.isascii():
        return False
    later = (letter for letter in whole if letter > "\u058f")
    to_left = sum(unicodedata.bidirectional(letter) in ("R", "AL") for letter in later)
    return 2 * to_left > sum(map(str.isalpha, whole))


def usual_size(lines: Iterable[Line]) -> float:
    """Return the type size of most letters."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[line.size] += len(line.text)
    return max(letters, key=letters.__getitem__, default=1.0)


def adjoin(line: Line, other: Line) -> bool:
    """Return whether two lines are set and spaced like neighbours in one text."""
    above, below = sorted((line.box, other.box), key=lambda box: box.top)
    across = above.shared_width(below)
    gap = below.top - above.bottom
    alike = abs(line.size - other.size) <= _SAME_SIZE * other.size and line.bold == other.bold
    return alike and across > 0 and gap < _SET_TIGHT * min(above.height, below.height)


def one_line(pieces: Sequence[Line]) -> Line:
    """Join pieces of a line in different fonts, from left to right."""
    whole, mono = pieces[0], len(pieces) > 1 and all(piece.mono for piece in pieces)
    for piece in pieces[1:]:
        gap = piece.box.left - whole.box.right
        # Keep pieces that OCR found apart separate, however large the letters.
        apart = bool(whole.read and piece.read) or gap > _TOGETHER * piece.box.height
        apart = apart and not _is_initial(whole, piece)
        spaces = int(apart)
        if mono:
            spaces = max(1, round(gap * len(piece.text) / max(1.0, piece.box.width)))
        whole = whole.followed_by(piece, " " * spaces)
    return whole


def _is_initial(first: Line, following: Line) -> bool:
    """Return whether a piece is the large first letter of the word that follows."""
    large = first.box.height > _INITIAL * following.box.height and len(first.text) == 1
    if not (large and first.text.isupper() and following.text[:1].islower()):
        return False
    # "A" and "I" may be words.
    return first.text not in "AI" or len(following.text.split()[0]) <= 2


@lru_cache
def font_style(font: str) -> tuple[bool, bool, bool]:
    """Return whether a font is bold, monospaced and italic."""
    return bool(_BOLD.search(font)), bool(_MONO.search(font)), bool(_ITALIC.search(font))
