"""Grids of fields enclosed by a page's rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.rules import Rule

_TOUCH = 3.0
"""Largest distance in points between rules that meet."""
_COVER = 0.6
"""Smallest fraction of a cell's side that must be drawn to close it."""
_FEWEST = 3
"""Fewest rules of a table with an open side."""
_MOST_FIELDS = 20_000
"""Most fields of a table's grid; squared paper has more."""


@dataclass(frozen=True)
class RuledCell:
    """An enclosed part of a grid: its first row and column, and how many of each it covers."""

    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Grid:
    """Rules that meet: the edges of their columns and rows, and the fields between them."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    fields: tuple[RuledCell, ...]

    @property
    def box(self) -> Box:
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def field_box(self, field: RuledCell) -> Box:
        return Box(
            self.xs[field.column],
            self.ys[field.row],
            self.xs[field.column + field.columns],
            self.ys[field.row + field.rows],
        )


def grids(rules: Sequence[Rule]) -> list[Grid]:
    """Return each group of crossing rules with room for cells side by side."""
    found = []
    for group in _groups([rule for rule in rules if not rule.faint]):
        across = [rule for rule in group if rule.across]
        down = [rule for rule in group if not rule.across]
        ys = _places([rule.at for rule in across] + _overhang(down, across))
        xs = _places([rule.at for rule in down] + _overhang(across, down))
        if len(xs) > 2 and len(ys) > 1 and len(xs) * len(ys) <= _MOST_FIELDS:
            found.append(Grid(tuple(xs), tuple(ys), tuple(_fields(xs, ys, across, down))))
    return found


def _groups(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the groups of rules that are connected by crossings."""
    across = [rule for rule in rules if rule.across]
    down = [rule for rule in rules if not rule.across]
    groups: list[list[Rule]] = [[rule] for rule in across]
    for rule in down:
        meeting = [group for group in groups if any(_meet(other, rule) for other in group)]
        merged = [rule, *(other for group in meeting for other in group)]
        groups = [group for group in groups if group not in meeting] + [merged]
    return groups


def _meet(across: Rule, down: Rule) -> bool:
    if not across.across:
        return False
    return (
        across.start - _TOUCH <= down.at <= across.end + _TOUCH
        and down.start - _TOUCH <= across.at <= down.end + _TOUCH
    )


def _overhang(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Return the end of rules beyond the outermost rule they cross: an open side."""
    if len(rules) + len(crossing) < _FEWEST:
        return []
    first, last = min(rule.start for rule in rules), max(rule.end for rule in rules)
    inner = [rule.at for rule in crossing]
    ends = []
    if not inner or first < min(inner) - 2 * _TOUCH:
        ends.append(first)
    if not inner or last > max(inner) + 2 * _TOUCH:
        ends.append(last)
    return ends


def _places(values: Sequence[float]) -> list[float]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _TOUCH:
            places.append(value)
    return places


def _fields(
    xs: Sequence[float], ys: Sequence[float], across: Sequence[Rule], down: Sequence[Rule]
) -> list[RuledCell]:
    """Merge neighbouring places with no rule between them into fields."""
    height, width = len(ys) - 1, len(xs) - 1
    owner = {(row, column): (row, column) for row in range(height) for column in range(width)}

    def root(place: tuple[int, int]) -> tuple[int, int]:
        while owner[place] != place:
            place = owner[place]
        return place

    for row in range(1, height):
        near = _near(across, ys[row])
        for column, (left, right) in enumerate(pairwise(xs)):
            if not _closed(near, left, right):
                owner[root((row, column))] = root((row - 1, column))
    for column in range(1, width):
        near = _near(down, xs[column])
        for row, (top, bottom) in enumerate(pairwise(ys)):
            if not _closed(near, top, bottom):
                owner[root((row, column))] = root((row, column - 1))
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for place in owner:
        members.setdefault(root(place), []).append(place)
    return [field for places in members.values() for field in _rectangles(places)]


def _near(rules: Sequence[Rule], at: float) -> list[Rule]:
    return [rule for rule in rules if abs(rule.at - at) <= _TOUCH]


def _closed(rules: Sequence[Rule], start: float, end: float) -> bool:
    covered = sum(max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules)
    return covered >= _COVER * (end - start)


def _rectangles(places: list[tuple[int, int]]) -> list[RuledCell]:
    """Return one field if the places form a rectangle, else one for each place."""
    top, bottom = min(row for row, _ in places), max(row for row, _ in places)
    left, right = min(column for _, column in places), max(column for _, column in places)
    if (bottom - top + 1) * (right - left + 1) == len(places):
        return [RuledCell(top, left, bottom - top + 1, right - left + 1)]
    return [RuledCell(row, column, 1, 1) for row, column in places]
