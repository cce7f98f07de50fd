"""Rules and shades: straight lines and filled areas on a page that may frame a table."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice, product
from typing import Any, NamedTuple

from carrel.server.reading.page.elements import Box, split_when

THIN = 3.0
"""Points. A filled or stroked shape no thicker than this is a line."""
_STRAIGHT = 1.0
"""Points. Maximum offset between the ends of a straight line."""
_SHORTEST = 4.0
"""Points. Shorter strokes are parts of letters and ornaments."""
_SAME = 2.0
"""Points. Parallel rules nearer than this are one."""
_GAP = 3.0
"""Points. Maximum gap in a rule, which is often drawn cell by cell."""
_MOST = 2000
"""Maximum rules per page: a drawing has more, a table never."""
_MOST_SHADES = 600
"""Maximum shades per page, likewise."""
_MARKED, _HUGS = 1.6, 0.08
"""Most height of a marked line, and distance of its text from its sides, in heights of text."""
_PAPER = ("ffffffff", "")
"""Colours that do not show."""


class Rule(NamedTuple):
    """A line across or down, `at` a height or distance from the left, from `start` to `end`.

    `faint` is the edge of a filled area: it separates rows, but frames no cell.
    """

    across: bool
    at: float
    start: float
    end: float
    faint: bool = False

    @property
    def box(self) -> Box:
        """Its place: a box without height or width."""
        _, at, start, end, _ = self
        return Box(start, at, end, at) if self.across else Box(at, start, at, end)

    def moved(self, into: Box) -> "Rule":
        """Return a rule of a part of a page, the box `into`, as one of the page."""
        at, along = (into.top, into.left) if self.across else (into.left, into.top)
        return Rule(self.across, self.at + at, self.start + along, self.end + along, self.faint)

    def mirrored(self, width: float) -> "Rule":
        """Return the rule mirrored on a page of this width."""
        if not self.across:
            return self._replace(at=width - self.at)
        return self._replace(start=width - self.end, end=width - self.start)


class Shade(NamedTuple):
    """A filled area behind text, and its colour as eight hexadecimal digits."""

    box: Box
    colour: str

    def mirrored(self, width: float) -> "Shade":
        """Return the area mirrored on a page of this width."""
        return self._replace(box=self.box.mirrored(width))


def unmarked(
    lines: Sequence[Any], shapes: Sequence[Any], texts: Iterable[Box]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the vector graphics of a page without those that mark lines of text, as a pen does.

    They begin and end where the text does, or other lines of it, and part nothing.
    """
    level = sorted((text.centre[1], text) for text in texts) if shapes else []
    stacks: dict[tuple[Any, ...], list[tuple[Box, Box]]] = defaultdict(list)
    for shape in shapes:
        box = Box.of(shape.bbox)
        if shape.fill and not shape.stroke and not shape.has_curve and box.height > THIN:
            first, end = (bisect_left(level, (y,)) for y in (box.top, box.bottom))
            held = [text for _, text in level[first:end] if box.holds_centre(text)]
            if held and box.height < _MARKED * held[0].height:
                place = (round(box.left), round(box.right), shape.fill_color)
                stacks[place].append((box, Box.around(held)))
    marks = set[Box]()
    for stack in stacks.values():
        frame, text = map(Box.around, zip(*stack, strict=True))
        reach = _HUGS * stack[0][1].height
        if abs(frame.left - text.left) <= reach >= abs(frame.right - text.right):
            marks.update(box for box, _ in stack)
    if not marks:
        return lines, shapes
    ends = ((Box(s.x1, s.y1, s.x1, s.y1), Box(s.x2, s.y2, s.x2, s.y2)) for s in lines)
    spans = zip(lines, map(Box.around, ends), strict=True)
    return (
        [line for line, span in spans if not any(mark.contains(span, 0.1) for mark in marks)],
        [shape for shape in shapes if Box.of(shape.bbox) not in marks],
    )


def drawn_shades(shapes: Sequence[Any]) -> list[Shade]:
    """Return the shades among liteparse's vector graphics of a page."""
    if len(shapes) > 4 * _MOST:
        return []
    found = (
        Shade(Box.of(shape.bbox), shape.fill_color)
        for shape in shapes
        if shape.fill
        and (shape.fill_color or "") not in _PAPER
        and min(shape.bbox.width, shape.bbox.height) > THIN
    )
    return list(islice(found, _MOST_SHADES))


def drawn_rules(lines: Sequence[Any], shapes: Sequence[Any]) -> list[Rule]:
    """Return the rules among liteparse's vector graphics of a page."""
    if len(lines) + len(shapes) > 4 * _MOST:
        return []
    straight = (straight_rule(line.x1, line.y1, line.x2, line.y2) for line in lines)
    sides = (_sides(shape.bbox, faint=not shape.stroke) for shape in shapes if not shape.has_curve)
    found = chain(*straight, *sides)
    return joined([rule for rule in found if rule.end - rule.start >= _SHORTEST])


def joined(rules: Iterable[Rule]) -> list[Rule]:
    """Merge rules that continue each other."""
    found: list[Rule] = []
    for across, faint in product((True, False), repeat=2):
        waiting = sorted(r for r in rules if r.across is across and r.faint is faint)
        while waiting:
            end = bisect_right(waiting, waiting[0].at + _SAME, key=lambda rule: rule.at)
            group, waiting = waiting[:end], waiting[end:]
            at = sum(rule.at for rule in group) / len(group)
            starts, ends = zip(*sorted((rule.start, rule.end) for rule in group), strict=True)
            reached = zip(starts, accumulate(ends, max), strict=True)
            for pieces in split_when(reached, lambda one, other: other[0] > one[1] + _GAP):
                found.append(Rule(across, at, pieces[0][0], pieces[-1][1], faint))
    return found[:_MOST]


def straight_rule(x1: float, y1: float, x2: float, y2: float) -> list[Rule]:
    """Return the rule between two points, if they lie across or down from each other."""
    if abs(y1 - y2) <= _STRAIGHT:
        return [Rule(True, (y1 + y2) / 2, min(x1, x2), max(x1, x2))]
    if abs(x1 - x2) <= _STRAIGHT:
        return [Rule(False, (x1 + x2) / 2, min(y1, y2), max(y1, y2))]
    return []


def _sides(box: Any, *, faint: bool) -> list[Rule]:
    """Return the sides of a rectangle; a thin one is a rule itself."""
    left, top, right, bottom = Box.of(box)
    if box.height <= THIN:
        return [Rule(True, (top + bottom) / 2, left, right)]
    if box.width <= THIN:
        return [Rule(False, (left + right) / 2, top, bottom)]
    across = (Rule(True, at, left, right, faint) for at in (top, bottom))
    down = (Rule(False, at, top, bottom, faint) for at in (left, right))
    return [*across, *down]
