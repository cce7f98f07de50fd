"""Reading order of the parts of a page.

Full-width white space cuts the page into strips. Adjacent strips that share a gutter are
columns, read one after the other; everything else is read from top to bottom.
"""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from carrel.server.reading.page.elements import Box


class Boxed(Protocol):
    """Anything with a bounding box."""

    @property
    def box(self) -> Box:
        """Its bounding box on the page."""


T = TypeVar("T", bound=Boxed)

_GUTTER = 0.5
"""Least gutter width, as a part of a line's height."""
_OVERLAP = 0.4
"""Maximum overlap of tightly set lines, as a part of their height."""
_HANGING = 2
"""Maximum outdent of a line with a list marker from its column, in line heights."""
_COLUMN_LINES = 3
"""Least parts in a column; fewer side by side are a row."""
_BESIDE = 5
"""Least lines beside a caption or note that is shorter than a column."""
_LEVEL = 0.15
"""Parts are on one line if their middles differ by less than this part of their height."""
_FULL = 0.9
"""Least average fill of a text column's width by its lines."""
_SET_APART = 0.35
"""Least white space between the lines of a form, as a part of their height."""
_LOOK_AHEAD = 24
"""Maximum lines between the start of a text and that of a caption or note beside it."""
_COLUMN_WIDTH = 0.12
"""Least column width, as a part of the text's width."""


def columns(parts: Sequence[T]) -> list[list[T]]:
    """Return the parts in reading order, grouped by column (or full width)."""
    if not parts:
        return []
    gutter = _GUTTER * statistics.median(part.box.height for part in parts)
    return _split_at_gutter(list(parts), gutter)


def _split_at_gutter(parts: list[T], gutter: float) -> list[list[T]]:
    if max(part.box.left for part in parts) < min(part.box.right for part in parts):
        # No two parts are side by side.
        return [sorted(parts, key=lambda part: part.box.top)]
    groups: list[list[T]] = []
    strips = _strips(parts)
    left = min(part.box.left for part in parts) + gutter
    right = max(part.box.right for part in parts) - gutter
    start, was_columns = 0, True
    while start < len(strips):
        # A full-width part leaves no room beside it.
        full = any(part.box.left < left and part.box.right > right for part in strips[start])
        end = start if full else _shared_gutter(strips, start, gutter)
        if end == start:
            if not was_columns:
                groups[-1] += strips[start]
            else:
                groups.append(strips[start])
            was_columns = False
            start += 1
            continue
        run = _flatten(strips[start:end])
        for side in _sides(run, _merge(_spans(run), gutter)):
            column = side.parts
            groups += _split_at_gutter(column, gutter) if len(column) < len(run) else [column]
        was_columns = True
        start = end
    return groups


def _strips(parts: list[T]) -> list[list[T]]:
    """Split parts at full-width white space."""
    strips: list[list[T]] = []
    bottom = float("-inf")
    for part in sorted(parts, key=lambda part: part.box.top):
        if part.box.top >= bottom - _OVERLAP * part.box.height:
            strips.append([])
        strips[-1].append(part)
        bottom = max(bottom, part.box.bottom)
    return strips


def _shared_gutter(strips: list[list[T]], start: int, gutter: float) -> int:
    """End of the columns that begin at strip `start`; `start` if none do."""
    spans: list[_Span] = []
    grown: list[list[_Span]] = []
    below = strips[start + 1] if start + 1 < len(strips) else []
    if len(below) > 1 and _across(strips[start], _merge(_spans(below), gutter)):
        return start
    for number, strip in enumerate(strips[start:], start):
        if _across(strip, spans):
            break
        spans = _merge([*spans, *_spans(strip)], gutter)
        if len(spans) < 2 and not _is_one_sided(spans[0], strips, number + 1, gutter):
            break
        grown.append(spans)
    # Try the longest run first: it is usually the right one.
    while grown and not _are_columns(grown[-1], strips[start : start + len(grown)]):
        grown.pop()
    return _exclude_tail(strips, start, start + len(grown), gutter)


def _flatten(strips: Sequence[list[T]]) -> list[T]:
    return [part for strip in strips for part in strip]


def _across(strip: list[T], spans: Sequence["_Span"]) -> bool:
    """Return whether a lone part begins in the gutter before a column and reaches into it."""
    if len(strip) > 1:
        return False
    box = strip[0].box
    return any(
        box.left < left - _HANGING * box.height and box.right > left for left, _ in spans[1:]
    )


def _is_one_sided(span: "_Span", strips: list[list[T]], following: int, gutter: float) -> bool:
    """Return whether one side may still become columns: a strip below lies partly beside it."""
    left, right = span
    for strip in strips[following : following + _LOOK_AHEAD]:
        for part in strip:
            box = part.box
            if box.left >= right or box.right <= left:
                return True
            if box.right > right + gutter:
                return False
    return False


def _exclude_tail(strips: list[list[T]], start: int, end: int, gutter: float) -> int:
    """Exclude a heading of the content below from the columns above it."""
    while end - start > 1 and end < len(strips):
        last, above, below = strips[end - 1], strips[end - 2], strips[end]
        if len(_merge(_spans(last), gutter)) > 1:
            break
        box = Box.around(part.box for part in last)
        before = box.top - max(part.box.bottom for part in above)
        after = min(part.box.top for part in below) - box.bottom
        if before <= 1.3 * max(after, 0.0) + 1:
            break
        end -= 1
    return end


class _Side(NamedTuple, Generic[T]):
    """The parts between two gutters."""

    left: float
    right: float
    parts: list[T]


_Span = tuple[float, float]
"""The left and right edge of some parts."""


def _spans(parts: Iterable[Boxed]) -> list[_Span]:
    return [(part.box.left, part.box.right) for part in parts]


def _merge(spans: list[_Span], gutter: float) -> list[_Span]:
    """Join the spans with no gutter between them, from left to right."""
    merged: list[_Span] = []
    for left, right in sorted(spans):
        if not merged or left >= merged[-1][1] + gutter:
            merged.append((left, right))
        elif right > merged[-1][1]:
            merged[-1] = (merged[-1][0], right)
    return merged


def _sides(parts: Iterable[T], spans: Iterable[_Span]) -> list[_Side[T]]:
    """Split parts at full-height gutters: between these spans."""
    sides: list[_Side[T]] = [_Side(left, right, []) for left, right in spans]
    lefts = [side.left for side in sides]
    for part in sorted(parts, key=lambda part: part.box.left):
        sides[bisect_right(lefts, part.box.left) - 1].parts.append(part)
    return sides


def _are_columns(spans: list[_Span], strips: Sequence[list[T]]) -> bool:
    """Return whether strips with full-height gutters between these spans are columns."""
    if len(spans) < 2:
        return False
    width = spans[-1][1] - spans[0][0]
    if any(right - left < _COLUMN_WIDTH * width for left, right in spans):
        return False
    sides = _sides(_flatten(strips), spans)
    counts = [len(side.parts) for side in sides]
    least, most = min(counts), max(counts)
    if least >= _COLUMN_LINES:
        return not _are_rows(sides) and all(
            _overlap_down(one, other) for one, other in pairwise(sides)
        )
    return most >= _BESIDE and least * 3 <= most and not _share_lines(sides)


def _overlap_down(one: _Side[T], other: _Side[T]) -> bool:
    """Return whether two sides overlap vertically."""
    first, second = (Box.around(part.box for part in side.parts) for side in (one, other))
    return first.top < second.bottom and second.top < first.bottom


def _are_rows(sides: list[_Side[T]]) -> bool:
    """Return whether the sides are labels with values: paired by line, short, and spaced."""
    for side in sides:
        boxes = [part.box for part in side.parts]
        text = sum(box.bottom - box.top for box in boxes)
        white = max(box.bottom for box in boxes) - min(box.top for box in boxes) - text
        if white < _SET_APART * text:
            return False
    if all(
        statistics.fmean(part.box.width for part in side.parts) > _FULL * (side.right - side.left)
        for side in sides
    ):
        return False
    return _share_lines(sides)


def _share_lines(sides: list[_Side[T]]) -> bool:
    """Return whether each part of the shortest side shares a line with another part."""
    short = min(sides, key=lambda side: len(side.parts))
    others = [part.box for side in sides if side is not short for part in side.parts]
    return all(
        any(abs(part.box.centre[1] - box.centre[1]) < _LEVEL * box.height for box in others)
        for part in short.parts
    )


def rows(parts: Sequence[T]) -> list[list[T]]:
    """Group the parts of one column into rows from top to bottom, each from left to right."""
    found: list[list[T]] = []
    for part in sorted(parts, key=lambda part: part.box.centre[1]):
        if found and all(_is_beside(part.box, other.box) for other in found[-1]):
            found[-1].append(part)
        else:
            found.append([part])
    return [sorted(row, key=lambda part: part.box.left) for row in found]


def _is_beside(one: Box, other: Box) -> bool:
    """Return whether two boxes are side by side on one line."""
    if one.shared_height(other) <= 0:
        return False
    shift = abs(one.centre[1] - other.centre[1])
    over = one.shared_width(other) >= min(one.width, other.width) / 2
    return shift < min(one.height, other.height) / 2 and not over
