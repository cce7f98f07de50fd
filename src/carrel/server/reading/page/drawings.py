"""Drawings: charts, diagrams and text drawn with vector graphics."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.server.reading.page.elements import Box, join_boxes
from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.page.rules import THIN, Rule, Shade, straight_rule

_SAME = 2.0
"""Points. Edges nearer than this are one."""
_REACH = 9.0
"""Points. Maximum distance between the parts of a drawing."""
_LEAST = 36.0
"""Points. Anything smaller is an ornament or a letter."""
_LARGEST = 0.6
"""Largest part of the page that a drawing covers; a larger one is the background."""
_WITH_AXES = 12.0
"""Largest area of a drawing with its axes, as a multiple of the lines or bars between them."""
_TOUCHES = 2
"""Times a drawing grows by the shapes that touch it."""
_BARS = 3
"""Fewest bars of different lengths in a chart."""
_BLEED = 36.0
"""Points. A shape reaches no farther beyond the page, unless the box around a curve is wrong."""
_MOST = 8000
"""Most lines or shapes that are looked at: a map has more."""
_SIDES, _INK, _DARK = 300, 1000.0, 384
"""Fewest sides and square points of text drawn as outlines, and largest sum of its colour."""


def drawings(
    lines: Sequence[Any],
    shapes: Sequence[Any],
    items: Sequence[TextItem],
    size: tuple[float, float],
) -> list[Box]:
    """Return the drawings among liteparse's vector graphics of a page, with their axes.

    Shapes other than rectangles show them, and bars of different lengths on one line. `items`
    are the page's text, `size` its width and height in points.
    """
    if not shapes or len(shapes) > _MOST:
        return []
    page = Box(0, 0, *size)
    placed = [(box, shape) for shape in shapes if page.contains(box := Box.of(shape.bbox), _BLEED)]
    boxes = [box for box, _ in placed]
    thick = {box: shape for box, shape in placed if min(box.width, box.height) > THIN}
    if len(lines) <= _MOST:
        edges: dict[tuple[bool, int], list[Rule]] = defaultdict(list)
        for line in lines:
            for edge in straight_rule(line.x1, line.y1, line.x2, line.y2):
                edges[edge.across, round(edge.at)].append(edge)
        # Straight sides make a rectangle of one with round corners, too.
        marks = [box for box, shape in thick.items() if not _is_framed(box, edges, shape.fill)]
    else:
        marks = [box for box, shape in thick.items() if shape.has_curve]
    texts = [item.box for item in items]
    marks += _bars([box for box, shape in thick.items() if shape.fill], texts)
    largest = _LARGEST * size[0] * size[1]
    near = join_boxes(marks, lambda one, other: one.is_near(other, _REACH))
    grown = (_grow(box, boxes, largest) for box in near if min(box.width, box.height) >= _LEAST)
    found = join_boxes(grown, lambda one, other: one.is_near(other, 0))
    return [box for box in found if box.area <= largest]


def has_outlines(lines: Sequence[Any], shades: Iterable[Shade]) -> bool:
    """Return whether text may be drawn as outlines: dark areas with many sides."""
    dark = (box.area for box, colour in shades if sum(bytes.fromhex(colour)[1:]) < _DARK)
    return len(lines) > _SIDES and sum(dark) > _INK


def _is_framed(box: Box, edges: Mapping[tuple[bool, int], Sequence[Rule]], filled: bool) -> bool:
    """Return whether lines run along all four sides of a box; two might be a chart's axes.

    For a `filled` box, a line near one side of each direction is enough.
    """
    enough, reach = (any, 3) if filled else (all, 1)

    def has_line(across: bool, at: float, low: float, high: float) -> bool:
        return any(
            min(edge.end, high) - max(edge.start, low) > (high - low) / 2
            for step in range(round(at) - reach, round(at) + reach + 1)
            for edge in edges.get((across, step), ())
        )

    left, top, right, bottom = box
    return enough(has_line(True, at, left, right) for at in (top, bottom)) and enough(
        has_line(False, at, top, bottom) for at in (left, right)
    )


def _bars(boxes: Sequence[Box], texts: Sequence[Box]) -> list[Box]:
    """Return the boxes around rectangles without text on one line that differ only in length."""
    rows: dict[tuple[str, int], list[tuple[float, float, Box]]] = defaultdict(list)
    for box in boxes:
        rows["left", round(box.left / _SAME)].append((box.height, box.width, box))
        rows["bottom", round(box.bottom / _SAME)].append((box.width, box.height, box))
    bars: list[Box] = []
    for row in rows.values():
        if len(row) < _BARS:
            continue
        usual = sorted(row)[len(row) // 2][0]
        alike = [(length, box) for breadth, length, box in row if abs(breadth - usual) <= _SAME]
        empty = [(length, box) for length, box in alike if not any(map(box.holds_centre, texts))]
        if len({round(length / _SAME) for length, _ in empty}) >= _BARS:
            bars.append(Box.around(box for _, box in empty))
    return bars


def _grow(box: Box, shapes: Sequence[Box], largest: float) -> Box:
    """Return a drawing with the axes and other shapes that touch it or each other."""
    most = min(largest, _WITH_AXES * box.area)
    around = box
    for _ in range(_TOUCHES):
        touching = [shape for shape in shapes if around.is_near(shape, 0) and shape.area <= most]
        around = Box.around([around, *touching])
    return around if around.area <= most else box
