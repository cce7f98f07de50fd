"""Finds the formulas that stand on lines of their own, and puts LaTeX in the place of their text.

Those within a line are liteparse's, but for marks and ordinals that it takes for a part of one.
"""

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np
from pypdfium2 import raw

from carrel.server.reading.formulas.rebuild import Glyph, NotRebuilt, latex_of
from carrel.server.reading.formulas.symbols import is_math_font
from carrel.server.reading.page.elements import Box, Line, join_boxes
from carrel.server.reading.page.lines import FORMULA
from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.pdf.page_space import PageSpace
from carrel.server.reading.pdf.text_layer import font_name

_INLINE = re.compile(r"\$[^$]+\$[.,;]?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"\((\w{1,3}([.-]\w{1,3})*)\)")
_ORDINAL = re.compile(r"\$(\d+)\^\{(st|nd|rd|th|er|e|o|a)\}\$")
_MARK_FIRST = re.compile(r"(?:(?<=\w)|^)( ?)\$([,;:.]+)(?=[^$]*[\\_^][^$]*\$)")
"""The marks after a word, at the start of the formula that follows it."""
_SAYS = re.compile(r"[A-Za-z\\]")
"""What a number, a formula of signs and digits alone, has not."""
_PROSE, _PROSE_LINE = 3, 4
"""Fewest words of a piece of text that is no part of a formula, and of its whole line."""
_LEAST_MATH = 0.2
"""Least part of a formula's glyphs that are of mathematical fonts: names with signs are none."""
_BESIDE = 36.0
"""Points. Largest gap between the words of a line and a formula in it."""
_SHARED = 0.35
"""Least height that a formula shares with the words of its line, as a part of its own."""
_ACROSS = 2.2
"""Largest gap between parts of one formula, as a part of the type's size."""
_THIN, _SHORTEST = 2.0, 2.0
"""Points. Largest height and least width of a bar."""
_RAISED, _LINE = 0.4, 1.6
"""Reach of underlined letters above a fraction's place, and of a line below it, in its height."""
_SAME_LINE = 0.7
"""Points. Largest distance between the baselines of one line."""
_DOWN = 0.45
"""Largest gap between the rows of a formula, as a part of the type's size."""


def with_display_formulas(
    items: Sequence[TextItem], lines: Sequence[Line], page: Any, text_page: Any, space: PageSpace
) -> tuple[list[TextItem], list[Line]]:
    """Replace the pieces of each formula, items and lines, by one item: LaTeX between two `$$`.

    `page` and `text_page` are PDFium's. A formula that cannot be rebuilt keeps its text.
    """
    items = _without_underlines(items, text_page, space)
    kept, other_lines = list(items), list(lines)
    for item in items:
        if "$" in item.text:
            item.text = _MARK_FIRST.sub(r"\1\2 $", _ORDINAL.sub(r"\1\2", item.text))
    if not any(map(_is_math, items)):
        return kept, other_lines
    prose = [item.box for item in _prose(items)]
    known = [*prose, *(item.box for item in items if _is_number(item))]
    glyphs = _outside(known, list(_glyphs(text_page, space)))
    bars = list(_bars(page, space))
    large = [glyph.box for glyph in glyphs if glyph.is_extension]
    seeds = [item.box for item in items if not item.rotation and _is_math(item)]
    apart = [seed for seed in [*seeds, *large] if not any(_shares_line(seed, b) for b in prose)]
    for zone in join_boxes((_grow(seed, glyphs) for seed in apart), Box.meets):
        inside = [glyph for glyph in glyphs if zone.holds_centre(glyph.box)]
        made = _formulas(inside, [bar for bar in bars if zone.holds_centre(bar.box)])
        if not made:
            continue
        pieces = [item for item in kept if zone.holds_centre(item.box)]
        for formula in made:
            numbers = [item for item in kept if _is_number_of(item, formula.box)]
            if len(numbers) == 1:
                number = numbers[0].text.strip()[1:-1]
                formula.text = f"{formula.text[:-2]} \\tag{{{number}}}{FORMULA}"
                pieces += numbers
        kept = [item for item in kept if item not in pieces] + made
        other_lines = [line for line in other_lines if not zone.meets(line.box)]
    return kept, other_lines


def _without_underlines(
    items: Sequence[TextItem], text_page: Any, space: PageSpace
) -> list[TextItem]:
    """Put underlined letters in the place of fractions that liteparse made of them.

    Below their bar it has letters of the next line, which has lost them.
    """
    found, glyphs = list[TextItem](), list[Glyph]()
    for item in items:
        found.append(item)
        if not item.text.startswith("$\\frac"):
            continue
        glyphs = glyphs or list(_glyphs(text_page, space))
        x, y, right, bottom = item.box
        down = _LINE * item.text.count("frac") * item.height
        place = Box(x, y - _RAISED * item.height, right, bottom + down)
        known = [other.box for other in items if other is not item and other.box.meets(place)]
        inside = _outside(known, [glyph for glyph in glyphs if place.holds_centre(glyph.box)])
        if not inside:
            continue
        low = max(inside, key=lambda glyph: glyph.base)
        # No denominator stands on a line of text.
        line = (glyph.box for glyph in glyphs if abs(glyph.base - low.base) < _SAME_LINE)
        beside = any(0 <= -box.shared_width(low.box) < low.box.height for box in line)
        if beside and not any(is_math_font(glyph.font) for glyph in inside):
            found[-1:] = [_item(g.text, g.box, g.size, g.font) for g in inside]
    return found


def _is_math(item: TextItem) -> bool:
    formula = not item.words and _INLINE.fullmatch(item.text.strip()) is not None
    return (formula or is_math_font(item.font) is not None) and _words(item) < _PROSE


def _prose(items: Sequence[TextItem]) -> list[TextItem]:
    """Return the pieces of lines of prose, with the formulas in them."""
    lines: list[list[TextItem]] = []
    for item in sorted(items, key=lambda item: item.x):
        line = next((line for line in lines if _shares_line(item.box, line[-1].box)), [])
        if not line:
            lines.append(line)
        line.append(item)
    fewest = (_PROSE if sum(map(_words, line)) < _PROSE_LINE else 0 for line in lines)
    texts = zip(lines, fewest, strict=True)
    return [item for line, least in texts for item in line if _words(item) >= least]


def _words(item: TextItem) -> int:
    return len(_WORD.findall(re.sub(r"\$[^$]*\$", "", item.text)))


def _is_number(item: TextItem) -> bool:
    """Return whether an item may be the number of a formula."""
    return _NUMBER.fullmatch(item.text.strip()) is not None


def _is_number_of(item: TextItem, formula: Box) -> bool:
    x, y = item.box.centre
    return _is_number(item) and x > formula.right and formula.top <= y <= formula.bottom


def _shares_line(one: Box, prose: Box) -> bool:
    shared = one.shared_height(prose) > _SHARED * min(one.height, prose.height)
    return shared and -one.shared_width(prose) < _BESIDE


def _outside(boxes: Sequence[Box], glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Return the glyphs whose middle is in none of some boxes: there are thousands of both."""
    left, top, right, bottom = np.array([glyph.box for glyph in glyphs]).reshape(-1, 4).T
    x, y, free = left + right, top + bottom, np.ones(len(glyphs), bool)
    for box in boxes:
        free &= (x < 2 * box.left) | (2 * box.right < x) | (y < 2 * box.top) | (2 * box.bottom < y)
    return list(compress(glyphs, free))


def _grow(zone: Box, glyphs: Sequence[Glyph]) -> Box:
    """Return the place of a formula with the glyphs beside, above and below it."""
    wider = Box.around([zone, *(glyph.box for glyph in glyphs if _is_beside(glyph, zone))])
    return zone if wider == zone else _grow(wider, glyphs)


def _is_beside(glyph: Glyph, zone: Box) -> bool:
    across, down = -zone.shared_width(glyph.box), -zone.shared_height(glyph.box)
    return across < _ACROSS * glyph.size and down < (_DOWN * glyph.size if across < 0 else 0)


def _formulas(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> list[TextItem]:
    """Return the formulas one below the other; none if one cannot be rebuilt."""
    made = []
    known = sum(glyph.is_extension or is_math_font(glyph.font) is not None for glyph in glyphs)
    if known < _LEAST_MATH * len(glyphs):
        return []
    for row in _rows(glyphs, rules):
        box = Box.around(glyph.box for glyph in row)
        inside = [rule for rule in rules if box.top - 2 <= rule.at <= box.bottom + 2]
        try:
            latex = latex_of(row, inside)
        except NotRebuilt:
            return []
        if not _SAYS.search(latex):
            return []
        size = max(glyph.size for glyph in row)
        made.append(_item(f"{FORMULA}{latex}{FORMULA}", box, size))
    return made


def _item(text: str, box: Box, size: float, font: str = "") -> TextItem:
    return TextItem(text, box.left, box.top, box.width, box.height, 0.0, font, size, ())


def _rows(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> list[list[Glyph]]:
    """Return the glyphs parted by white space from side to side."""
    rows: list[list[Glyph]] = []
    bottom = 0.0
    for glyph in sorted(glyphs, key=lambda glyph: glyph.box.top):
        barred = any(rule.across and bottom <= rule.at <= glyph.box.top for rule in rules)
        if not rows or (glyph.box.top - bottom > _DOWN * glyph.size and not barred):
            rows.append([])
            bottom = glyph.box.bottom
        rows[-1].append(glyph)
        bottom = max(bottom, glyph.box.bottom)
    return rows


def _bars(page: Any, space: PageSpace) -> Iterator[Rule]:
    """Yield the thin level lines of a page, which may be bars of fractions and roots."""
    for path in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1):
        box = space.to_layout(path.get_bounds())
        if box.height <= _THIN and box.width >= _SHORTEST:
            yield Rule(True, box.centre[1], box.left, box.right)


def _glyphs(text_page: Any, space: PageSpace) -> Iterator[Glyph]:
    """Yield the glyphs with ink."""
    x, y, matrix = ctypes.c_double(), ctypes.c_double(), raw.FS_MATRIX()
    for number in range(text_page.count_chars()):
        bounds = text_page.get_charbox(number)
        if bounds[2] <= bounds[0] or bounds[3] <= bounds[1]:
            continue
        raw.FPDFText_GetCharOrigin(text_page, number, x, y)
        base = space.to_layout((x.value, y.value, x.value, y.value)).top
        raw.FPDFText_GetMatrix(text_page, number, matrix)
        # Some files declare one point for every font and scale it.
        size = raw.FPDFText_GetFontSize(text_page, number) * math.hypot(matrix.c, matrix.d)
        text = chr(raw.FPDFText_GetUnicode(text_page, number))
        yield Glyph(text, space.to_layout(bounds), base, size, font_name(text_page, number))
