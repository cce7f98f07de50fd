"""The figures in a picture of a page: areas full of ink that is not text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PIL import Image

from carrel.server.reading.page.elements import Box, Line, PageFrame
from carrel.server.reading.scans.looking import turned_back

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

_CELL = 4.0
"""Points. The page is looked at in squares of at least this size."""
_MOST_CELLS = 60_000
"""A page that is larger than paper is looked at in larger squares."""
_DARKER = 30
"""How much darker than the paper a square with ink is, of 255."""
_REACH = 2
"""Squares without ink that may lie between the parts of a figure."""
_FULL = 0.35
"""How much of its rectangle a figure fills at least: tables and frames fill less."""
_LEAST_SIDE = 36.0
"""Points. Anything smaller is an ornament, a bar or a blot."""
_LARGEST = 0.8
"""A figure that covers more of the page is its background."""


def pictured_figures(picture: Image.Image, frame: PageFrame, lines: Sequence[Line]) -> list[Box]:
    """Where figures stand in a picture of a page, in points of its upright layout."""
    # Only pages that need OCR pay for loading it.
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
    figures = []
    for cells in _patches(ink):
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        box = Box(
            min(columns) * cell,
            min(rows) * cell,
            min((max(columns) + 1) * cell, width),
            min((max(rows) + 1) * cell, height),
        )
        full = len(cells) * cell**2 / (box.width * box.height)
        fits = min(box.width, box.height) >= _LEAST_SIDE
        if fits and full >= _FULL and box.width * box.height <= _LARGEST * width * height:
            figures.append(box)
    return figures


def _patches(ink: "NDArray[bool_]") -> Iterator[list[tuple[int, int]]]:
    """Squares with ink, together with all that are near enough."""
    rest = {(int(row), int(column)) for row, column in zip(*ink.nonzero(), strict=True)}
    near = range(-_REACH, _REACH + 1)
    while rest:
        patch = [rest.pop()]
        for row, column in patch:
            beside = {(row + down, column + across) for down in near for across in near} & rest
            rest -= beside
            patch += beside
        yield patch
