"""Finds figures in a page's picture: ink that is not text, in full areas or in line drawings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from PIL import Image

from carrel.server.reading.page.elements import Box, Line, PageFrame
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.scans.rules import turned_back

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
"""Least fill of a figure's bounding box; a line drawing fills less."""
_DRAWN = 0.3
"""Least part of a line drawing that is off the rules: frames and the grids of tables are rules."""
_LEAST_SIDE = 36.0
"""Points. Anything smaller is an ornament, a bar or a blot."""
_LARGEST = 0.8
"""Maximum part of the page that a figure covers; a larger one is the background."""


def pictured_figures(
    picture: Image.Image, frame: PageFrame, lines: Sequence[Line], rules: Sequence[Rule]
) -> list[Box]:
    """Find figures in a page's picture, in points of the upright page."""
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
    found = []
    for patch in _patches(ink):
        box = _box(patch, cell)
        if box.width * box.height > _LARGEST * width * height:
            continue
        if len(patch) * cell**2 < _FULL * box.width * box.height:
            drawn = [square for square in patch if not _on_rule(square, cell, rules)]
            if len(drawn) < _DRAWN * len(patch):
                continue
            box = _box(drawn, cell)
        if min(box.width, box.height) >= _LEAST_SIDE:
            found.append(box)
    return found


def _box(squares: Sequence[tuple[int, int]], cell: float) -> Box:
    rows, columns = zip(*squares, strict=True)
    left, top = min(columns) * cell, min(rows) * cell
    return Box(left, top, (max(columns) + 1) * cell, (max(rows) + 1) * cell)


def _on_rule(square: tuple[int, int], cell: float, rules: Iterable[Rule]) -> bool:
    """Return whether a rule runs through a square or right beside it."""
    y, x = ((place + 0.5) * cell for place in square)
    places = ((x, y, rule) if rule.across else (y, x, rule) for rule in rules)
    return any(
        abs(beside - rule.at) <= cell and rule.start - cell <= along <= rule.end + cell
        for along, beside, rule in places
    )


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
