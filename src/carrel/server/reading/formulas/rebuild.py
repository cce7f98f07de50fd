"""Rebuilds a formula from its glyphs: scripts, fractions, roots, limits, matrices, accents."""

import math
import statistics
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from carrel.server.reading.formulas import symbols
from carrel.server.reading.page.elements import Box, split_when
from carrel.server.reading.page.rules import Rule

_SCRIPT = 0.12
"""Least height of a script above or below its line, as a part of the type's size."""
_LOST = 0.9
"""Distance from the line at which type of its size is no script but another line."""
_QUAD, _WORD, _COLUMN = 0.9, 0.2, 0.75
"""Gaps of a quad, between words of a text, and between columns, as parts of the type's size."""
_TOGETHER = 0.5
"""Largest gap within a text, as a part of the type's size."""
_ROWS = 0.9
"""Least distance of the baselines of a matrix, as a part of the type's size."""
_ON = 1.5
"""Points by which a root's sign may miss its rule, and a glyph reach over it."""
_GAP = 0.6
"""Largest gap between the glyphs above or below a bar, as a part of the type's size."""

_LATIN_END = 0x250
_STROKE = "\u0338"


class NotRebuilt(Exception):
    """A formula has glyphs of no known meaning."""


class Glyph(NamedTuple):
    """A glyph of a formula: its ink, the place of its baseline and its type's size, in points."""

    text: str
    box: Box
    base: float
    size: float
    font: str = ""

    @property
    def is_extension(self) -> bool:
        """Whether it is of TeX's font of large signs, whose letters are codes."""
        return symbols.EXTENSION.search(self.font) is not None

    @property
    def operator(self) -> str:
        """A sum, an integral or the like; empty for anything else."""
        known = self.is_extension or not self.text.isascii()
        return symbols.OPERATORS.get(self.text, "") if known else ""

    @property
    def delimiter(self) -> str:
        """A large bracket; empty for anything else."""
        return symbols.DELIMITERS.get(self.text, "") if self.is_extension else ""


class _Part(NamedTuple):
    """A finished part of a formula; `limits` may stand above and below it."""

    latex: str
    box: Box
    base: float
    size: float
    limits: bool = False
    roman: bool = False


def latex_of(glyphs: Sequence[Glyph], rules: Sequence[Rule]) -> str:
    """Return a formula in LaTeX; `rules` are the bars of its fractions and roots.

    Raises:
        NotRebuilt: glyphs have no known meaning.
    """
    pieces = [glyph for glyph in glyphs if glyph.is_extension and glyph.text in symbols.PIECES]
    kept = [_whole(glyph, pieces) for glyph in glyphs if glyph not in pieces]
    bars = sorted((rule for rule in rules if rule.across), key=lambda rule: rule.start - rule.end)
    return _row(kept, bars)


def _whole(glyph: Glyph, pieces: Sequence[Glyph]) -> Glyph:
    """Return a delimiter joined with its other pieces."""
    if not glyph.delimiter:
        return glyph
    own = [piece.box for piece in pieces if abs(piece.box.left - glyph.box.left) < _ON]
    return glyph._replace(box=Box.around([glyph.box, *own]))


def _row(glyphs: Sequence[Glyph], bars: Sequence[Rule]) -> str:
    """Return a row of glyphs, with its fractions and roots, the widest first."""
    rest, waiting, parts = list(glyphs), list(bars), list[_Part]()
    while waiting:
        bar = waiting.pop(0)
        if built := _build_bar(bar, rest, waiting):
            part, used = built
            parts.append(part)
            rest = [glyph for glyph in rest if glyph not in used]
            waiting = [other for other in waiting if not part.box.holds_centre(other.box)]
    return _line(_join_matrices(rest, parts))


def _build_bar(
    bar: Rule, glyphs: Sequence[Glyph], bars: Sequence[Rule]
) -> tuple[_Part, list[Glyph]] | None:
    """Return the fraction or root of a bar, and its glyphs, or None for any other line."""
    inside = [glyph for glyph in glyphs if bar.start - 1 <= glyph.box.centre[0] <= bar.end + 1]
    below = _stack_glyphs([(one.box.top - bar.at, one) for one in inside])
    sign = next((glyph for glyph in glyphs if _is_root_of(glyph, bar)), None)
    above = [] if sign else _stack_glyphs([(bar.at - one.box.bottom, one) for one in inside])
    if not below or not (sign or above):
        return None
    used = [*above, *below, *([sign] if sign else [])]
    size = max(one.size for one in used)
    around = Box.around(one.box for one in used)
    box = Box(min(bar.start, around.left), around.top, max(bar.end, around.right), around.bottom)
    inner = [other for other in bars if box.holds_centre(other.box)]
    lower = _row(below, [other for other in inner if other.at > bar.at])
    if sign:
        base = statistics.median(one.base for one in below)
        index = [glyph for glyph in glyphs if _is_index_of(glyph, sign, size)]
        degree = f"[{_row(index, [])}]" if index else ""
        return _Part(rf"\sqrt{degree}{{{lower}}}", box, base, size), [*used, *index]
    upper = _row(above, [other for other in inner if other.at < bar.at])
    return _Part(rf"\frac{{{upper}}}{{{lower}}}", box, bar.at + 0.25 * size, size), used


def _is_index_of(glyph: Glyph, sign: Glyph, size: float) -> bool:
    """Return whether a glyph is the degree of a root."""
    x, y = glyph.box.centre
    near = sign.box.left - 0.3 * size <= x <= sign.box.right - 0.2 * size
    return glyph != sign and glyph.size < 0.85 * size and near and y < sign.box.centre[1]


def _stack_glyphs(glyphs: Sequence[tuple[float, Glyph]]) -> list[Glyph]:
    """Return the glyphs at one side of a bar, each with its distance, up to a gap."""
    found, reach = list[Glyph](), 0.0
    for apart, glyph in sorted(glyphs):
        if -_ON <= apart <= reach + _GAP * glyph.size:
            found.append(glyph)
            reach = max(reach, apart + glyph.box.height)
    return found


def _is_root_of(glyph: Glyph, bar: Rule) -> bool:
    radical = glyph.text in symbols.RADICALS and (glyph.is_extension or glyph.text == "√")
    under = abs(glyph.box.top - bar.at) <= 2 * _ON
    return radical and under and abs(glyph.box.right - bar.start) <= _ON


def _join_matrices(glyphs: Sequence[Glyph], parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts of a row; several rows in brackets are a matrix, or cases."""
    found: list[_Part] = list(parts)
    glyphs = sorted(glyphs, key=lambda glyph: glyph.box.left)
    done: set[int] = set()
    for number, glyph in enumerate(glyphs):
        if glyph.delimiter not in symbols.OPENING | {"|"} or number in done:
            continue
        turns = (
            (sign in symbols.OPENING) - (sign in symbols.CLOSING or sign == "|" == glyph.delimiter)
            for sign in (other.delimiter for other in glyphs[number + 1 :])
        )
        depths = enumerate(accumulate(turns, initial=1), number)
        end = next((other for other, depth in depths if depth == 0), len(glyphs))
        closing = [other.box for other in glyphs[end : end + 1]]
        held = [
            *map(_part, glyphs[number + 1 : end]),
            *(part for part in found if glyph.box.right <= part.box.centre[0]
              and all(part.box.centre[0] <= box.left for box in closing)),
        ]  # fmt: skip
        rows = _matrix_rows(held)
        if len(rows) < 2:
            continue
        name = symbols.MATRICES.get(glyph.delimiter, "matrix") if closing else "cases"
        cells = [[_line(cell) for cell in split_when(row, _are_columns)] for row in rows]
        lines = r" \\ ".join(map(" & ".join, cells))
        box = Box.around([glyph.box, *(part.box for part in held), *closing])
        size = max(part.size for part in held)
        latex = rf"\begin{{{name}}}{lines}\end{{{name}}}"
        if name == "pmatrix" and list(map(len, cells)) == [1, 1]:
            latex = rf"\binom{{{cells[0][0]}}}{{{cells[1][0]}}}"
        found = [part for part in found if part not in held]
        found.append(_Part(latex, box, box.centre[1] + 0.25 * size, size))
        done.update(range(number, end + 1))
    found += (_part(glyph) for number, glyph in enumerate(glyphs) if number not in done)
    return found


def _matrix_rows(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return the parts by row: baselines far enough apart, with scripts in between."""
    size = max((part.size for part in parts), default=0.0)
    bases: list[float] = []
    for part in sorted(parts, key=lambda part: part.base):
        if part.size > 0.85 * size and (not bases or part.base - bases[-1] > _ROWS * size):
            bases.append(part.base)
    rows: list[list[_Part]] = [[] for _ in bases]
    for part in parts:
        nearest = min(range(len(bases)), key=lambda number: abs(bases[number] - part.base))
        rows[nearest].append(part)
    return [sorted(row, key=lambda part: part.box.left) for row in rows]


def _are_columns(part: _Part, following: _Part) -> bool:
    return following.box.left - part.box.right > _COLUMN * following.size


def _part(glyph: Glyph) -> _Part:
    """Return a glyph alone."""
    text, box, size = glyph.text, glyph.box, glyph.size
    base = box.centre[1] + 0.25 * size
    if operator := glyph.operator:
        return _Part(operator, box, base, size, operator not in symbols.INTEGRALS)
    if glyph.delimiter:
        return _Part(glyph.delimiter, box, base, size)
    if glyph.is_extension:
        if text not in symbols.WIDE:
            raise NotRebuilt(text)
        return _Part(f"\\{symbols.WIDE[text]}", box, glyph.base, size)
    latin = text.isprintable() and (ord(text[0]) < _LATIN_END or text in symbols.ACCENTS)
    if not (latin or text in symbols.SYMBOLS or text == _STROKE):
        raise NotRebuilt(text)
    latex = symbols.SYMBOLS.get(text, text)
    for pattern, name in symbols.ALPHABETS:
        if pattern.search(glyph.font) and latex.isalnum():
            return _Part(rf"\{name}{{{latex}}}", box, glyph.base, size)
    roman = symbols.ROMAN.search(glyph.font) is not None and latex.isalpha()
    return _Part(latex, box, glyph.base, size, roman=roman)


def _line(parts: Sequence[_Part]) -> str:
    """Return the parts on one line: accents, limits, scripts and words."""
    if not parts:
        return ""
    parts = _words(_set_accents(_negate(sorted(parts, key=lambda part: part.box.left))))
    size = max(part.size for part in parts)
    main = [part for part in parts if part.size > 0.85 * size]
    base = statistics.median_low([part.base for part in main])
    bars = [part for part in parts if part.latex.startswith("\\frac") and part not in main]
    main += [p for p in bars if abs(p.base + 0.25 * (size - p.size) - base) < _SCRIPT * size]
    scripts = [
        part
        for part in parts
        if part not in main or (not part.limits and abs(part.base - base) > 0.55 * size)
    ]
    if lost := next((p for p in main if p in scripts and abs(p.base - base) > _LOST * size), None):
        raise NotRebuilt(lost.latex)
    nuclei = [part for part in parts if part not in scripts]
    held: dict[int, tuple[list[_Part], list[_Part]]] = {}
    for script in scripts:
        number, up = _nucleus(script, nuclei, base)
        held.setdefault(number, ([], []))[not up].append(script)
    text, reach = "", math.inf
    for number, part in enumerate(nuclei):
        text += r" \quad " if part.box.left - reach > _QUAD * size else ""
        upper, lower = held.get(number, ([], []))
        reach = max(one.box.right for one in (part, *upper, *lower))
        latex = part.latex
        if lower:
            latex += f"_{{{_line(lower)}}}"
        if upper:
            raised = _line(upper)
            latex += "'" * len(upper) if set(raised) == {"'"} else f"^{{{raised}}}"
        # A space follows a command before a letter.
        command = text.rpartition("\\")[2] if "\\" in text else ""
        text += (" " if command.isalpha() and latex[:1].isalpha() else "") + latex
    return text.replace(r"\int\int", r"\iint").replace(r"\iint\int", r"\iiint")


def _nucleus(script: _Part, nuclei: Sequence[_Part], base: float) -> tuple[int, bool]:
    """Return the part that a script belongs to, and whether it is raised."""
    x, y = script.box.centre
    for number, part in enumerate(nuclei):
        over = part.box.left - 1.2 * part.size <= x <= part.box.right + 1.2 * part.size
        apart = script.box.bottom <= part.box.top + 1 or script.box.top >= part.box.bottom - 1
        if part.limits and over and apart:
            return number, y < part.box.centre[1]
    before = [n for n, part in enumerate(nuclei) if part.box.left <= script.box.left]
    number = before[-1] if before else 0
    part = nuclei[number]
    tall = part.box.height > 1.3 * part.size
    up = y < part.box.centre[1] if tall else script.base < base - _SCRIPT * part.size * 0.5
    return number, up


def _set_accents(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts with accents set on the letter below them."""
    rest = list(parts)
    for accent in [part for part in parts if _accent(part)]:
        x, low = accent.box.centre[0], accent.box.bottom
        under = (part for part in rest if part is not accent and low <= part.box.centre[1])
        below = [part for part in under if part.box.left - 1 <= x <= part.box.right + 2]
        if below:
            letter = min(below, key=lambda part: part.box.top - accent.box.bottom)
            rest.remove(accent)
            box = Box.around([accent.box, letter.box])._replace(left=letter.box.left)
            latex = rf"\{_accent(accent)}{{{letter.latex}}}"
            rest[rest.index(letter)] = letter._replace(latex=latex, box=box, roman=False)
    return rest


def _negate(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts with a stroke through them as their negation."""
    rest = list(parts)
    for stroke in [part for part in parts if part.latex == _STROKE]:
        rest.remove(stroke)
        if not rest:
            raise NotRebuilt(_STROKE)
        struck = min(rest, key=lambda part: math.dist(part.box.centre, stroke.box.centre))
        latex = symbols.NEGATED.get(struck.latex, rf"\not{struck.latex}")
        rest[rest.index(struck)] = struck._replace(latex=latex)
    return rest


def _accent(part: _Part) -> str:
    if part.latex.startswith("\\wide"):
        return part.latex[1:]
    return symbols.ACCENTS.get(part.latex, "") if part.latex != r"\to" else ""


def _words(parts: Sequence[_Part]) -> list[_Part]:
    """Return the letters of upright type as names of functions, or as text."""
    found = [part for part in parts if not part.roman]
    waiting = [part for part in parts if part.roman]
    while waiting:
        letters = [waiting.pop(0)]
        for part in list(waiting):
            last = letters[-1]
            level = abs(part.base - last.base) < 1 and part.size == last.size
            if level and part.box.left - last.box.right < _TOGETHER * part.size:
                letters.append(part)
                waiting.remove(part)
        found.append(_word(letters))
    return sorted(found, key=lambda part: part.box.left)


def _word(letters: Sequence[_Part]) -> _Part:
    if len(letters) < 2:
        return letters[0]
    text = letters[0].latex
    for before, letter in pairwise(letters):
        gap = letter.box.left - before.box.right
        text += (" " if gap > _WORD * letter.size else "") + letter.latex
    box = Box.around(letter.box for letter in letters)
    latex = f"\\{text}" if text in symbols.FUNCTIONS else rf"\text{{{text}}}"
    return letters[0]._replace(latex=latex, box=box, limits=text in symbols.LIMITED, roman=False)
