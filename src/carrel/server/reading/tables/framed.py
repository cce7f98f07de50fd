"""Tables of known fields: enclosed by rules, or told by a tagged file."""

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from carrel.server.reading.page.elements import Box, split_when
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.decode import PageReading, Sets, joined_text

_TOUCH = 3.0
"""Largest distance in points between rules that meet."""
_COVER = 0.6
"""Smallest fraction of a cell's side that must be drawn to close it."""
_FEWEST = 3
"""Fewest rules of a table with an open side."""
_MOST_BOXES = 3
"""Most boxes below each other that are tables: in a form, each row has its own columns."""
_MOST_FIELDS = 20_000
"""Most fields of a table's grid; squared paper has more."""
_TICK = 18.0
"""Points. Largest size of a box to tick."""
_HALF = 0.5
"""With boxes to tick: most of a table's height that a rule between them covers, least of its fields
that hold text, and most neighbours in a field that may look like two cells."""
_FILLED = 0.2
"""Smallest fraction of a grid's fields that hold text; a chart's are empty."""
_DOUBTED = 0.25
"""Largest part of neighbours in a field that may look like two cells: the rules know better."""
_APART = 0.3
"""Pieces less likely to be of one cell than this are of two."""
_CELLS, _LIKELY, _AGREED, _ASTRAY = 0.75, 0.5, 0.95, 0.005
"""Least mean likelihood of cells in a told table, as tables also set out pages; least part of its
neighbours that look as told, and largest of its pairs that stand otherwise, as without spans."""


@dataclass(frozen=True)
class Grid:
    """Rules that meet: the edges of their columns and rows, and the empty cells between them."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    fields: tuple[Cell, ...]
    ticked: bool = False
    """Whether boxes to tick stand in some."""

    @property
    def box(self) -> Box:
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def field_box(self, field: Cell) -> Box:
        right, bottom = field.column + field.columns, field.row + field.rows
        return Box(self.xs[field.column], self.ys[field.row], self.xs[right], self.ys[bottom])


def grids(rules: Sequence[Rule], double: float = _TOUCH, texts: Sequence[Box] = ()) -> list[Grid]:
    """Return each group of crossing rules with room for cells side by side, with and without its
    frame: a form's holds tables and other text.

    Rules no farther apart than `double` are one, drawn as two. Boxes to tick hold no `texts`.
    """
    touch = max(_TOUCH, double)
    found = []
    for group in chain.from_iterable(map(_boxes, _crossing([r for r in rules if not r.faint]))):
        across, down = ([rule for rule in group if rule.across is way] for way in (True, False))
        ys = _places([rule.at for rule in across] + _overhang(down, across), touch)
        xs = _places([rule.at for rule in down] + _overhang(across, down), touch)
        if len(xs) > 2 and len(ys) > 1 and len(xs) * len(ys) <= _MOST_FIELDS:
            grid = Grid(tuple(xs), tuple(ys), tuple(_fields(xs, ys, group)))
            found.append(_without_ticks(grid, group, texts))
            inner = [rule for rule in down if xs[0] + touch < rule.at < xs[-1] - touch]
            if len(inner) < len(down):
                found += grids([*across, *inner], double, texts)
    return found


def _crossing(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Group the rules that meet, directly or by way of others."""
    across, at, start, end, _ = np.array(rules, float).reshape(-1, 5).T
    reach = (start[:, None] - _TOUCH <= at) & (at <= end[:, None] + _TOUCH)
    pairs = np.argwhere(reach & reach.T & (across[:, None] > across)).tolist()
    groups = Sets(len(rules), pairs).groups(range(len(rules)))
    return [[rules[number] for number in group] for group in groups]


def _boxes(rules: list[Rule]) -> list[list[Rule]]:
    """Cut rules into boxes below each other, the last of several rows: sums go on with a table."""
    across, down = ([r for r in rules if r.across is level] for level in (True, False))
    left = min([r.start for r in across], default=0.0)
    right = max([r.end for r in across], default=0.0)
    levels = sorted([r.at for r in across if r.end - r.start > right - left - _TOUCH])
    inner = [r for r in down if left + _TOUCH < r.at < right - _TOUCH]
    cuts, before = list[float](), list[float]()
    for high, low in pairwise(levels):
        columns = [r.at for r in inner if min(r.end, low) - max(r.start, high) > _TOUCH]
        if columns and before and not any(abs(a - b) < _TOUCH for a in columns for b in before):
            cuts.append(high)
            before = []
        before += columns
    cuts = [at for at in cuts if any(at + _TOUCH < r.at < levels[-1] - _TOUCH for r in across)]
    if not 0 < len(cuts) < _MOST_BOXES:
        return [rules]
    found = []
    for high, low in pairwise([-math.inf, *cuts, math.inf]):
        sides = (r._replace(start=max(r.start, high), end=min(r.end, low)) for r in down)
        tops = (r for r in across if high - _TOUCH < r.at < low + _TOUCH)
        found.append([*tops, *(r for r in sides if r.end - r.start > _TOUCH)])
    return found


def _overhang(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Return the end of rules beyond the outermost rule they cross: an open side."""
    if len(rules) + len(crossing) < _FEWEST:
        return []
    inner = [rule.at for rule in crossing]
    low, high = min(inner, default=math.inf), max(inner, default=-math.inf)
    ends = min(rule.start for rule in rules), max(rule.end for rule in rules)
    return [end for end in ends if not low - 2 * _TOUCH <= end <= high + 2 * _TOUCH]


def _places(values: Sequence[float], touch: float) -> list[float]:
    """Return the places of rules, in the middle of those that are one."""
    ones = split_when(sorted(values), lambda before, value: value - before > touch)
    return [(same[0] + same[-1]) / 2 for same in ones]


def _without_ticks(grid: Grid, rules: Sequence[Rule], texts: Sequence[Box]) -> Grid:
    """Return a grid without the columns that part nothing but boxes to tick from their labels."""
    down = [(r.at, r.end - r.start) for r in rules if not r.across]
    drawn = {x: sum(length for at, length in down if abs(at - x) < _TOUCH) for x in grid.xs}
    short = {x for x, length in drawn.items() if 0 < length <= _HALF * grid.box.height}
    places = map(grid.field_box, grid.fields if short else ())
    small = (box for box in places if box.width <= _TICK and box.area <= _TICK**2)
    centres = (text.centre for text in texts if short)
    taken = {(bisect(grid.xs, x), bisect(grid.ys, y)) for x, y in centres}
    ticks = [b for b in small if (bisect(grid.xs, b.left), bisect(grid.ys, b.top)) not in taken]
    sides = {x: set[tuple[float, float]]() for x in grid.xs}
    for left, top, right, bottom in ticks:
        sides[left].add((top, bottom))
        sides[right].add((top, bottom))
    held = {x: sum(end - start for start, end in sides[x]) for x in short}
    xs = tuple(x for x in grid.xs if x not in short or drawn[x] > held[x] + _TOUCH)
    if xs == grid.xs:
        return grid
    rules = [r for r in rules if r.across or any(abs(r.at - x) < _TOUCH for x in xs)]
    return Grid(xs, grid.ys, tuple(_fields(xs, grid.ys, rules)), ticked=True)


def _fields(xs: Sequence[float], ys: Sequence[float], rules: Sequence[Rule]) -> list[Cell]:
    """Merge neighbouring places with no rule between them into fields."""
    height, width = len(ys) - 1, len(xs) - 1
    sets = Sets(height * width)
    for row, column in _open([r for r in rules if r.across], ys, xs):
        sets.join((row - 1) * width + column, row * width + column)
    for column, row in _open([r for r in rules if not r.across], xs, ys):
        sets.join(row * width + column - 1, row * width + column)
    return [
        field
        for places in sets.groups(range(height * width))
        for field in _rectangles([divmod(place, width) for place in places])
    ]


def _open(
    rules: Sequence[Rule], places: Sequence[float], sides: Sequence[float]
) -> list[list[int]]:
    """Return the inner places of rules, and their parts between two sides, that have no rule."""
    _, at, start, end, _ = np.array(rules, float).reshape(-1, 5).T[..., None]
    low, high = np.array([sides[:-1], sides[1:]])
    covered = np.zeros((len(places), len(low)))
    reach = np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
    np.add.at(covered, np.abs(at - places).argmin(1), reach)
    found: list[list[int]] = np.argwhere(covered[:-1] < _COVER * (high - low)).tolist()
    return [place for place in found if place[0]]


def _rectangles(places: list[tuple[int, int]]) -> list[Cell]:
    """Return one field if the places form a rectangle, else one for each place."""
    (top, bottom), (left, right) = ((min(some), max(some)) for some in zip(*places, strict=True))
    if (bottom - top + 1) * (right - left + 1) == len(places):
        return [Cell("", top, left, bottom - top + 1, right - left + 1)]
    return [Cell("", *place) for place in places]


def framed_table(grid: Grid, page: PageReading, inside: Sequence[int]) -> Table | None:
    """Return the table of a grid, or None if a field has several cells or too few have any."""
    places, own = map(page.inside, map(grid.field_box, grid.fields)), {*inside}
    held = [[number for number in place if number in own] for place in places]
    filled = sum(map(bool, held))
    least, most = (_HALF, _HALF) if grid.ticked else (_FILLED, _DOUBTED)
    if filled < 2 or filled < least * len(held) or _several(page, held, most):
        return None
    return _table(page, grid.fields, held)


def told_tables(page: PageReading) -> Iterator[tuple[set[int], Table]]:
    """Yield the tables that a tagged file tells, each with its pieces, where they stand so."""
    told, likely = page.view.told, page.view.role("cell")
    for number in {*told[:, 2].tolist()} - {0}:
        members = np.flatnonzero(told[:, 2] == number)
        places, field_of = np.unique(told[members, 3:7], axis=0, return_inverse=True)
        for at in (0, 2):
            begins = np.unique(places[:, at])
            places[:, at : at + 2] = begins.searchsorted(places[:, at : at + 2] + (0, 1))
        before = (places[:, None, 1::2] <= places[:, ::2])[field_of][:, field_of]
        centres = np.array([page.boxes[piece].centre[::-1] for piece in members])
        astray = before & (centres[:, None] >= centres)
        _, one, other, chance = page.columns_within(members, "cell")
        agreed = (chance > _LIKELY) == (told[one, 3:7] == told[other, 3:7]).all(1)
        if (
            likely[members].mean() > _CELLS
            and len(page.inside(Box.around(page.boxes[n] for n in members))) == len(members)
            and agreed.sum() >= _AGREED * len(agreed)
            and (astray.sum((0, 1)) <= _ASTRAY * before.sum((0, 1))).all()
        ):
            fields = [Cell("", y0, x0, y1 - y0, x1 - x0) for y0, y1, x0, x1 in places.tolist()]
            held = [members[field_of == field].tolist() for field in range(len(fields))]
            if table := _table(page, fields, held):
                yield set(members.tolist()), table


def _table(page: PageReading, fields: Sequence[Cell], held: Sequence[list[int]]) -> Table | None:
    """Return the table whose fields hold these pieces, None with one row or column."""
    row_of = {n: field.row for field, own in zip(fields, held, strict=True) for n in own}
    texts = (joined_text([page.pieces[number] for number in pieces]) for pieces in held)
    cells = [field._replace(**text._asdict()) for field, text in zip(fields, texts, strict=True)]
    table = Table.of(cells, page.head_rows(row_of))
    return table if table.height > 1 and table.width > 1 else None


def _several(page: PageReading, fields: Sequence[Sequence[int]], most: float) -> bool:
    """Return whether any field holds several cells; of neighbours in one, `most` may look so."""
    field_of = np.zeros(len(page.pieces), int)
    for field, pieces in enumerate(fields):
        field_of[pieces] = field
    _, one, other, chance = page.columns_within(chain.from_iterable(fields), "cell")
    chance = chance[field_of[one] == field_of[other]]
    return bool((chance < _APART).sum() > max(1, most * len(chance)))
