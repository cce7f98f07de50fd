"""Finds figures in a page's picture: ink that is not text, in full areas or in line drawings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

from carrel.server.reading.page.elements import Box, Line, PageFrame
from carrel.server.reading.page.seen import ModelRegion
from carrel.server.reading.scans.looking import turned_back

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

_CELL = 4.0
"""Points. Least size of the grid's squares."""
_MOST_CELLS = 60_000
"""Maximum squares of the grid; a page larger than paper has larger squares."""
_DARKER = 30
"""Least darkness of a square with ink relative to the paper, of 255."""
_REACH = 2
"""Maximum distance between the parts of a figure, in squares."""
_FULL = 0.35
"""Least fill of a figure's bounding box: tables and frames fill less."""
_LEAST_SIDE = 36.0
"""Points. Anything smaller is an ornament, a bar or a blot."""
_LEAST_SKETCH = 20.0
"""Points. Anything smaller is no part of a line drawing, but a rule, a formula or a blot."""
_LARGEST = 0.8
"""Maximum part of the page that a figure covers; a larger one is the background."""


class PicturedFigures(NamedTuple):
    """Areas full of ink, and line drawings, in points of the page's upright layout."""

    full: list[Box]
    sketches: list[Box]


def pictured_figures(
    picture: Image.Image,
    frame: PageFrame,
    lines: Sequence[Line],
    regions: Sequence[ModelRegion] = (),
) -> PicturedFigures:
    """Find figures in a page's picture, line drawings if the layout model sees a figure.

    Elsewhere these are frames and tables.
    """
    # Import late: only pages that need OCR pay for it.
    import numpy as np

    width, height = frame.upright_size
    grey = turned_back(picture.convert("L"), frame)
    cell = max(_CELL, (width * height / _MOST_CELLS) ** 0.5)
    grid = (max(1, round(width / cell)), max(1, round(height / cell)))
    grey = grey.resize(grid, Image.Resampling.BOX)
    paper = float(np.percentile(np.asarray(grey), 80))
    if frame.skew:
        grey = grey.rotate(frame.skew, Image.Resampling.BILINEAR, fillcolor=round(paper))
    ink = np.asarray(grey) < paper - _DARKER
    for line in lines:
        top, bottom = int(line.box.top / cell), int(line.box.bottom / cell) + 1
        left, right = int(line.box.left / cell), int(line.box.right / cell) + 1
        ink[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = False
    seen = [region.box for region in regions if region.kind == "figure"]
    found = PicturedFigures([], [])
    for cells in _patches(ink):
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        box = Box(
            min(columns) * cell,
            min(rows) * cell,
            min((max(columns) + 1) * cell, width),
            min((max(rows) + 1) * cell, height),
        )
        fits = box.width * box.height <= _LARGEST * width * height
        full = len(cells) * cell**2 / (box.width * box.height)
        if fits and full >= _FULL and min(box.width, box.height) >= _LEAST_SIDE:
            found.full.append(box)
        elif fits and min(box.width, box.height) >= _LEAST_SKETCH and _any_holds(seen, box):
            found.sketches.append(box)
    return found


def _any_holds(seen: Iterable[Box], box: Box) -> bool:
    return any(figure.holds_centre(box) for figure in seen)


def _patches(ink: "NDArray[bool_]") -> Iterator[list[tuple[int, int]]]:
    """Group squares with ink that are near each other."""
    rest = {(int(row), int(column)) for row, column in zip(*ink.nonzero(), strict=True)}
    near = range(-_REACH, _REACH + 1)
    while rest:
        patch = [rest.pop()]
        for row, column in patch:
            beside = {(row + down, column + across) for down in near for across in near} & rest
            rest -= beside
            patch += beside
        yield patch
