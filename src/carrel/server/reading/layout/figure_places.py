"""Places of figures on a page: drawings, diagrams and pictures, and their parts as one figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.lines import LABELLED
from carrel.server.reading.page.seen import ModelRegion

_SURE = 0.5
"""Least confidence of a figure that the layout model sees."""
_LARGE = 0.6
"""Largest part of the page that such a figure covers: the model takes covers and forms for one."""
_CERTAIN, _BARE = 0.9, 0.1
"""A larger one needs this confidence, and text covers at most this part of it."""
_DRAWN = 0.3
"""Least part of such a figure that is drawn; the model takes contents and code for figures."""
_LEAST_SIDE = 36.0
"""Points. A smaller picture is an icon, whose text stands beside it."""
_NEAR = 36.0
"""Points. Maximum distance between parts of one figure."""
_SENTENCE = 10
"""Least words of a line of prose."""
_PROSE_LINES = 3
"""Lines of prose that make a drawing the frame of a text."""
_COVERED = 0.4
"""Largest part of a seen figure that text covers."""
_AROUND = 12.0
"""Points. Parts reach no farther beyond the figure that the layout model sees."""


@dataclass(frozen=True)
class FigurePlace:
    """A figure's bounding box; `seen` is the layout model's, which holds its labels too.

    `frames` are boxes of text drawn in it. A place that is a `picture` has labels only where the
    model sees a figure.
    """

    box: Box
    frames: tuple[Box, ...] = ()
    picture: bool = False
    seen: Box | None = None


def are_doubtful(places: Sequence[FigurePlace], lines: Iterable[Line]) -> bool:
    """Return whether the layout model is needed for figures: they have text or parts nearby."""
    large = [place for place in places if _is_large(place.box)]
    texts = [line.box for line in lines] if large else []
    return any(
        place.frames
        or any(place.box.holds_centre(text) for text in texts)
        or any(_near(place.box, other.box) for other in large if other is not place)
        for place in large
    )


def whole_figures(
    places: Sequence[FigurePlace],
    seen: Sequence[ModelRegion],
    lines: Sequence[Line],
    size: tuple[float, float],
) -> list[FigurePlace]:
    """Join the parts of each figure that the layout model sees on a page of this size."""
    rest = list(places)
    found: list[FigurePlace] = []
    for region in sorted(seen, key=lambda region: -region.confidence):
        parts = [place for place in rest if region.box.holds_centre(place.box)]
        if not parts or not _is_figure(region, parts, lines, size):
            continue
        rest = [place for place in rest if place not in parts]
        frames = tuple(frame for part in parts for frame in part.frames)
        box = _within(Box.around(part.box for part in parts), region.box)
        found.append(FigurePlace(box, frames, seen=region.box))
    return [*found, *(place for place in rest if not _in_any(place.box, found))]


def _within(parts: Box, figure: Box) -> Box:
    """Return the box of a figure's parts without those that reach far beyond it."""
    return Box(
        max(parts.left, figure.left - _AROUND),
        max(parts.top, figure.top - _AROUND),
        min(parts.right, figure.right + _AROUND),
        min(parts.bottom, figure.bottom + _AROUND),
    )


def _is_figure(
    region: ModelRegion,
    parts: Sequence[FigurePlace],
    lines: Sequence[Line],
    size: tuple[float, float],
) -> bool:
    if region.kind != "figure" or region.confidence < _SURE:
        return False
    box, area = region.box, _area(region.box)
    inside = [line for line in lines if box.holds_centre(line.box)]
    covered = sum(_area(line.box) for line in inside)
    drawn = sum(_area(part.box) for part in parts)
    if drawn < _DRAWN * area or covered > _COVERED * area or has_prose(inside):
        return False
    if area > _LARGE * size[0] * size[1]:
        return region.confidence >= _CERTAIN and covered <= _BARE * area
    return not any(_parts_figures(line, parts) for line in inside)


def _parts_figures(line: Line, parts: Sequence[FigurePlace]) -> bool:
    """Return whether a caption stands between parts: they are several figures."""
    above = any(part.box.bottom <= line.box.centre[1] for part in parts)
    below = any(part.box.top >= line.box.centre[1] for part in parts)
    return above and below and LABELLED.match(line.text) is not None


def has_prose(lines: Iterable[Line]) -> bool:
    """Return whether lines in a drawing make it the frame of a text."""
    return sum(is_prose(line) for line in lines) >= _PROSE_LINES


def is_prose(line: Line) -> bool:
    """Return whether a line has as many words as lines of prose have."""
    return len(line.text.split()) >= _SENTENCE


_Placed = TypeVar("_Placed", FigurePlace, ModelRegion)


def outside_tables(places: Sequence[_Placed], tables: Sequence[Box]) -> list[_Placed]:
    """Return the figures that do not overlap a table."""
    return [place for place in places if not any(_cross(place.box, table) for table in tables)]


def clear_of(box: Box, lines: Iterable[Line]) -> Box:
    """Return a box cut back where text from outside reaches over its edges."""
    for line in lines:
        other = line.box
        if not _cross(box, other) or box.holds_centre(other):
            continue
        x, y = other.centre
        if y < box.top:
            box = box._replace(top=other.bottom)
        elif y > box.bottom:
            box = box._replace(bottom=other.top)
        elif x < box.left:
            box = box._replace(left=other.right)
        else:
            box = box._replace(right=other.left)
    return box


def _is_large(box: Box) -> bool:
    return min(box.width, box.height) >= _LEAST_SIDE


def _in_any(box: Box, places: Iterable[FigurePlace]) -> bool:
    return any(place.box.holds_centre(box) for place in places)


def _area(box: Box) -> float:
    return box.width * box.height


def _near(one: Box, other: Box) -> bool:
    across = one.left <= other.right + _NEAR and other.left <= one.right + _NEAR
    return across and one.top <= other.bottom + _NEAR and other.top <= one.bottom + _NEAR


def _cross(one: Box, other: Box) -> bool:
    return (
        one.left < other.right
        and other.left < one.right
        and (one.top < other.bottom and other.top < one.bottom)
    )
