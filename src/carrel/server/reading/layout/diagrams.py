"""Diagrams: boxes of text that stand apart and are joined by lines, as in a flow chart."""

from collections.abc import Sequence
from itertools import product

from carrel.server.reading.layout.figures import FigurePlace
from carrel.server.reading.page.elements import Box, group_connected
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.tables.decode import PageReading

_CORNER = 4.0
"""Points. Maximum distance between rules that meet: sides of a box, or parts of a bent line."""
_LEAST, _MOST = 12.0, 300.0
"""Points. Height of a box: one line of text at least; a higher one is a page's frame."""
_ENDS = 10.0
"""Points. Maximum distance between a line and the box it leads to: arrowheads are no rules."""
_MOST_BENT = 12
"""Maximum rules of a line with branches; a grid has more."""
_LABELS = 2
"""Maximum lines of text between its boxes, for each of them: a table has rows there."""
_MOST_RULES = 400
"""Maximum rules looked at: a page with more has a table or a map."""


def diagrams(rules: Sequence[Rule], page: PageReading) -> list[FigurePlace]:
    """Return the diagrams among a page's rules.

    Each box of a diagram has four sides of its own. Cells of a table share sides, and a line
    between two fields of a form belongs to neither.
    """
    drawn = [rule for rule in rules if not rule.faint]
    if not 0 < len(drawn) <= _MOST_RULES:
        return []
    frames = [frame for frame in _frames(drawn) if page.inside(frame)]
    if len(frames) < 2:
        return []
    lines = (rule.box for rule in drawn)
    joining = [line for line in lines if not any(box.contains(line, _CORNER) for box in frames)]
    lines_between = group_connected(joining, lambda one, other: one.is_near(other, _CORNER))
    led = [
        (line, [frame for frame in frames if any(_ends_beside(rule, frame) for rule in line)])
        for line in lines_between
        if len(line) <= _MOST_BENT
    ]
    found = []
    for joined in group_connected(
        frames, lambda one, other: any(one in ends and other in ends for _, ends in led)
    ):
        between = [rule for line, ends in led if ends[1:] and ends[0] in joined for rule in line]
        whole = Box.around([*joined, *between])
        loose = set(page.inside(whole)).difference(*map(page.inside, joined))
        if between and len(loose) <= _LABELS * len(joined):
            found.append(FigurePlace(whole, tuple(joined)))
    return found


def _frames(rules: Sequence[Rule]) -> list[Box]:
    """Return the rectangles whose sides end in their corners, without tables and nested ones."""
    across, down = ([rule for rule in rules if rule.across is way] for way in (True, False))
    found: list[Box] = []
    # Most lines of a table end no line down.
    uppers = [rule for rule in across if any(abs(rule.at - side.start) <= _CORNER for side in down)]
    lowers = [rule for rule in across if any(abs(rule.at - side.end) <= _CORNER for side in down)]
    for upper, lower in product(uppers, lowers):
        if _LEAST <= lower.at - upper.at <= _MOST and _alike(upper, lower):
            box = Box(upper.start, upper.at, upper.end, lower.at)
            side = Rule(False, box.left, box.top, box.bottom)
            # Rules between the sides separate columns.
            sides = [
                rule.at
                for rule in down
                if _alike(rule, side) and box.left - _CORNER <= rule.at <= box.right + _CORNER
            ]
            if len(sides) == 2 and max(sides) - min(sides) >= box.width - 2 * _CORNER:
                found.append(box)
    found.sort(key=lambda box: -box.area)
    return [
        box
        for number, box in enumerate(found)
        if not any(other.holds_centre(box) for other in found[:number])
    ]


def _alike(one: Rule, other: Rule) -> bool:
    """Return whether two rules begin and end at the same places."""
    return abs(one.start - other.start) <= _CORNER and abs(one.end - other.end) <= _CORNER


def _ends_beside(rule: Box, frame: Box) -> bool:
    """Return whether a rule ends near a side of a box; one that runs along it is of a grid."""
    across, down = frame.shared_width(rule), frame.shared_height(rule)
    apart, level = (across, down) if rule.width else (down, across)
    return level >= 0 and abs(apart) <= _ENDS
