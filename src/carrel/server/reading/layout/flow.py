"""Reading order of the parts of a page, from their places alone.

A part goes before what it stands over and before what is at its right in the next column, unless
something between the two in height stands over both: the precedence that T. Breuel gives in "High
Performance Document Layout Analysis" (2003).
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrel.server.reading.page.elements import Box
from carrel.server.reading.tables.decode import Sets

_TOUCH = 1.0
"""Points. Boxes side by side may overlap so far."""
_WITHIN = 0.8
"""Least part of the narrower of two parts that is over the other if both are in one column."""
_ACROSS = 0.8
"""Least part of a gutter that is filled by what parts the columns beside it."""
_LEVEL = 0.3
"""Parts are on one line if their middles differ by less than this part of their height."""
_NEAR = 1.5
"""Largest distance of a line from the text of its column, in its heights."""
_ADDRESS = 3
"""Fewest lines of words of a stack that is read by itself, as an address or a list is."""
_TIGHT = 0.6
"""Largest gap between the lines of a stack, in their heights."""


def reading_order(
    blocks: Sequence[Sequence[Box]], solids: Sequence[Box] = (), figures: Collection[int] = ()
) -> list[int]:
    """Return the numbers of blocks of text, by their lines, and then of solid parts, in reading
    order. Blocks that are `figures` go with what is beside them.
    """
    count = len(blocks)
    boxes = [*map(Box.around, blocks), *solids]
    order = sorted(range(len(boxes)), key=lambda number: (boxes[number].top, boxes[number].left))
    if all(boxes[one].bottom <= boxes[other].top for one, other in pairwise(order)):
        return order
    rows = _rows_of_blocks(blocks, figures)
    rows += ([number] for number in range(count, count + len(solids)))
    places = [Box.around(boxes[number] for number in row) for row in rows]
    single = {number for number, lines in enumerate(blocks) if len(lines) == 1}
    wholes = [
        _with_text_below(place, places) if single.issuperset(row) else place
        for row, place in zip(rows, places, strict=True)
    ]
    before = _precedence(_array(places), _array(wholes))
    waiting = before.sum(0)
    rest = sorted(range(len(rows)), key=lambda number: (places[number].top, places[number].left))
    found: list[int] = []
    while rest:
        free = [number for number in rest if not waiting[number]] or rest
        # The next line of a column comes before another column that is as free.
        on = (n for n in free if found and _goes_on(blocks, found[-1], rows[n][0]))
        following = next(on, free[0])
        rest.remove(following)
        found += rows[following]
        waiting -= before[following]
    return found


def _goes_on(blocks: Sequence[Sequence[Box]], one: int, other: int) -> bool:
    """Return whether a block of text is the next one in the column of another."""
    if max(one, other) >= len(blocks):
        return False
    above, below = blocks[one][-1], blocks[other][0]
    near = _NEAR if above.is_flush(below) else _TIGHT
    gaps = abs(below.top - above.bottom) / near, abs(below.left - above.left) / _NEAR
    return max(gaps) < below.height


def _array(boxes: Sequence[Box]) -> NDArray[Any]:
    return np.array(boxes).reshape(-1, 4)


def _with_text_below(place: Box, others: Sequence[Box]) -> Box:
    """Return a part's place with what stands right below it, if that is nearer than what is above.

    So a heading of what is as wide as the page is no end of a column.
    """
    near = [other for other in others if place.shared_width(other) > 0]
    above = min((gap for box in near if (gap := place.top - box.bottom) >= 0), default=math.inf)
    apart = ((gap, box) for box in near if (gap := box.top - place.bottom) >= 0)
    gap, below = min(apart, default=(0.0, place))
    return Box.around([place, below]) if gap < min(_NEAR * place.height, above) else place


def _precedence(places: NDArray[Any], wholes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each two parts whether the first goes before the second.

    `wholes` are their places, with the texts of headings.
    """
    left, top, right, bottom = places.T
    middle, width = (top + bottom) / 2, right - left
    shared = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    level = np.minimum(bottom[:, None], bottom) > np.maximum(top[:, None], top)
    over = shared > _TOUCH
    beside = (wholes[:, 0] >= wholes[:, 2][:, None] - _TOUCH) & ~over
    highest, lowest = np.minimum(middle[:, None], middle), np.maximum(middle[:, None], middle)
    pairs = np.argwhere(beside)
    # All pairs at once might need too much memory.
    most = max(1, 500_000 // len(places))
    for start in range(0, len(pairs), most):
        one, other = pairs[start : start + most].T[..., None]
        filled = np.minimum(right, left[other]) - np.maximum(left, right[one])
        across = filled >= _ACROSS * (left[other] - right[one])
        across &= (highest[one, other] < middle) & (middle < lowest[one, other])
        beside[one[:, 0], other[:, 0]] = ~across.any(1)
    # They are columns if these two, or what stands over them, are level.
    above = shared >= _WITHIN * np.minimum(width[:, None], width)
    above &= middle[:, None] <= middle
    beside &= (above.T.astype(np.float32) @ (beside & level) @ above) > 0
    return np.asarray((over & (middle[:, None] < middle)) | beside)


def _rows_of_blocks(blocks: Sequence[Sequence[Box]], figures: Collection[int]) -> list[list[int]]:
    """Group the blocks that are read as rows: labels with their values."""
    sets = Sets(len(blocks))
    left, top, right, bottom = _array([lines[0] for lines in blocks]).T
    last = _array([lines[-1] for lines in blocks])
    middle, height = (top + bottom) / 2, bottom - top
    # Stacked blocks are set like the lines of one text, as an address is.
    near = np.abs(left - last[:, :1]) < _NEAR * height
    near &= np.abs(top - last[:, 3:]) < _TIGHT * height
    stacks = Sets(len(blocks), np.argwhere(near).tolist())
    # Blocks of one line with those at their right whose first line is level with them.
    beside = np.abs(middle[:, None] - middle) < _LEVEL * np.minimum(height[:, None], height)
    beside &= right[:, None] <= left + _TOUCH
    beside[[len(lines) > 1 for lines in blocks]] = False
    columns = [Box.around(lines) for lines in blocks if len(lines) > 1]
    worded = Counter(stacks.root(n) for n in range(len(blocks)) if n not in figures)
    for one, other in np.argwhere(beside).tolist():
        mark, text = blocks[one][0], blocks[other][0]
        if not (
            min(worded[stacks.root(one)], worded[stacks.root(other)]) >= _ADDRESS
            or len(blocks[other]) > 1
            or _is_in_column(mark, text, columns)
            or _is_in_column(text, mark, columns)
        ):
            sets.join(one, other)
    return [
        sorted(row, key=lambda number: blocks[number][0].left)
        for row in sets.groups(range(len(blocks)))
    ]


def _is_in_column(line: Box, beside: Box, columns: Iterable[Box]) -> bool:
    """Return whether a text of several lines stands near a line, and not near what is beside it."""
    return any(
        line.shared_width(text) > 0
        and beside.shared_width(text) <= 0
        and -line.shared_height(text) < _NEAR * line.height
        for text in columns
    )
