"""Text drawn on a page but absent from its text layer: in pictures, or as outlines.

Detected in a coarse rendering: lines of text are long and low, carry many strokes, and are
stacked. Most strokes of a picture of text are on such lines; those of a photograph, a chart or a
map are not, though it may contain words.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from carrel.server.reading.page.elements import Box, group_connected

DRAWN_DPI = 100
"""Pixels per inch of the rendering."""

_REACH = 11
"""Largest gap in pixels between the letters and words of a line."""
_LOWEST, _HIGHEST = 5, 40
"""Smallest and largest height of a line of text, in pixels."""
_LONG = 6
"""Smallest width of a line of text, in line heights."""
_STROKES = 12
"""Fewest strokes across the middle of a line of text."""
_STROKES_APART = 1.1
"""Largest distance between a line's strokes, in line heights."""
_FEWEST = 3
"""Fewest stacked lines that are not the labels of a chart or a map."""
_ALIKE = 1.6
"""Largest ratio between the heights of stacked lines."""
_PITCH = 3.0
"""Largest leading of stacked lines, top to top, in line heights."""
_MOSTLY = 0.5
"""Smallest fraction of ink on lines of text in a picture of text."""
_SCAN, _PAPER = 0.8, 200
"""Smallest fraction of the page that a scan with little text covers, and grey of most of it."""
_WINDOW, _CONTRAST = 31, 24
"""Pixels of the surrounding window, and greys by which ink is darker or lighter than it."""


def drawn_text(
    page: Image.Image, known: Iterable[Box], pictures: Sequence[Box], within: Box, width: float
) -> list[Box]:
    """Return the boxes of text drawn outside `known`, in points; a picture of text counts whole.

    `page` is rendered at `DRAWN_DPI` and `width` points wide; `pictures` are the boxes of its
    pictures, `within` the part of it that is looked at.
    """
    grey = np.asarray(page.convert("L"))
    strokes = np.zeros(grey.shape, np.uint8)
    lines: list[Box] = []
    scale = grey.shape[1] / width
    blanks = [_place(box, scale) for box in known]
    place = _place(within, scale, 1 + _WINDOW)
    mean = cv2.blur(grey[place], (_WINDOW, _WINDOW), borderType=cv2.BORDER_REPLICATE)
    for contrast in (cv2.subtract(mean, grey[place]), cv2.subtract(grey[place], mean)):
        ink = np.zeros(grey.shape, np.uint8)
        ink[place] = contrast >= _CONTRAST
        for blank in blanks:
            ink[blank] = 0
        strokes |= ink
        lines += _lines(ink)
    whole = _SCAN * width * len(grey) / scale
    scans = [box for box in pictures if box.width * box.height > whole]
    if scans and len(lines) >= max(1, len(blanks)) and np.median(grey) > _PAPER:
        return scans
    blocks = [Box(*(edge / scale for edge in block)) for block in _blocks(lines)]
    # Text outside pictures is drawn as outlines.
    likely = [[box for box in pictures if box.holds_centre(block)] or [block] for block in blocks]
    found = {box: _place(box, scale) for boxes in likely for box in boxes}
    rest = strokes.copy()
    for block in blocks:
        rest[_place(block, scale)] = 0
    other = 1 - _MOSTLY
    return [box for box, at in found.items() if rest[at].sum() <= other * strokes[at].sum()]


def _place(box: Box, scale: float, margin: int = 1) -> tuple[slice, slice]:
    """Return the rows and columns of a box in a rendering, with a margin in pixels."""
    left, top, right, bottom = (int(edge * scale) for edge in box)
    rows = slice(max(0, top - margin), bottom + 1 + margin)
    return rows, slice(max(0, left - margin), right + 1 + margin)


def _lines(ink: NDArray[np.uint8]) -> list[Box]:
    """Find likely lines of text, in pixels."""
    # Most of a page is blank. The first component is its ground.
    x, y, width, height = cv2.boundingRect(ink)
    part = ink[y : y + height + 1, x : x + width + 1]
    joined = cv2.morphologyEx(part, cv2.MORPH_CLOSE, np.ones((1, _REACH), np.uint8))
    places = cv2.connectedComponentsWithStats(joined, connectivity=4)[2][1:]
    places[:, :2] += x, y
    wide, high = places[:, cv2.CC_STAT_WIDTH], places[:, cv2.CC_STAT_HEIGHT]
    likely = (high >= _LOWEST) & (high <= _HIGHEST) & (wide >= _LONG * high)
    found = []
    for left, top, width, height, _ in places[likely].tolist():
        middle = ink[top + height // 4 : top + height - height // 4, left : left + width]
        strokes = float((np.diff(middle, axis=1) == 1).sum(axis=1).mean())
        if strokes >= _STROKES and width <= _STROKES_APART * height * strokes:
            found.append(Box(left, top, left + width, top + height))
    return found


def _blocks(lines: Sequence[Box]) -> list[Box]:
    """Group stacked lines into blocks, in pixels with a margin of white space."""
    blocks = []
    for group in group_connected(lines, _are_stacked):
        tops = sorted(line.top for line in group)
        rows = 1 + sum(below - above > _LOWEST for above, below in pairwise(tops))
        if rows >= _FEWEST:
            around, margin = Box.around(group), max(line.height for line in group)
            left, top = max(0.0, around.left - margin), max(0.0, around.top - margin)
            blocks.append(Box(left, top, around.right + margin, around.bottom + margin))
    return blocks


def _are_stacked(one: Box, other: Box) -> bool:
    """Return whether two lines stand right below each other, in type of similar size."""
    high, low = max(one.height, other.height), min(one.height, other.height)
    over = one.shared_width(other) > 0
    return high <= _ALIKE * low and over and abs(one.top - other.top) <= _PITCH * high
