"""Reads a page's picture, or parts of it, as upright lines of text, inside a parser."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from carrel.server.reading.fence import doubt, fenced, is_doubtful
from carrel.server.reading.layout.blocks import PageParts
from carrel.server.reading.page.elements import Box, Line, PageFrame, Word
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.scans.rules import find_rules

Squares = NDArray[np.intp]
"""Rows and columns of squares of a grid."""
Look = Callable[[Image.Image], dict[str, Any]]
"""Reads an RGB picture in the OCR process, by way of the server."""

_ALIKE = 1.35
"""Heights within this factor are one font size."""
_UPRIGHT = 20.0
"""Degrees. A line at a greater angle is not part of the flow."""
_UPENDED = 1.5
"""A line of several letters with at least this height-to-width ratio was read sideways."""
_LEAST_SKEW, _MOST_SKEW = 0.15, 20.0
_AROUND = 3.0
"""Points around a line that is read by itself."""


def recognise_page(picture: Image.Image, size: tuple[float, float], look: Look) -> PageParts:
    """Return what a picture of a page of `size` points shows, with its quarter turn and skew.

    The parts are straightened, in points of the upright page. `apart` are the lines that do not
    read across it, from left to right.
    """
    if picture.getcolors(1):
        # Skip blank pages: a document may have thousands.
        return PageParts(PageFrame(*size))
    answer = look(picture)
    if is_doubtful(answer):
        doubt()
    turn, found = answer["turn"], answer["lines"]
    skew = _skew(found)
    frame = PageFrame(*size, turn=turn, skew=skew)
    width = picture.height if turn in (90, 270) else picture.width
    scale = frame.upright_size[0] / width
    lines = _even_out([_line(line, frame, scale) for line in found if not _is_slanted(line, skew)])
    slanted = [_line(line, frame, scale) for line in found if _is_slanted(line, skew)]
    slanted.sort(key=lambda line: line.box.centre)
    texts = [*lines, *slanted]
    rules = fenced("pictured rules", find_rules, picture, frame) or []
    figures = fenced("pictured figures", find_figures, picture, frame, texts, rules) or []
    return PageParts(frame, lines=lines, apart=slanted, rules=rules, figures=figures)


def _is_slanted(line: dict[str, Any], skew: float) -> bool:
    """Return whether a line is at an angle to the page, as are labels of charts and rivers."""
    (x0, y0), (x1, y1), _, (x3, y3) = line["quad"]
    angle = abs(math.degrees(math.atan2(y1 - y0, x1 - x0)) - skew)
    width, height = math.hypot(x1 - x0, y1 - y0), math.hypot(x3 - x0, y3 - y0)
    upended = height > _UPENDED * width and len(line["text"]) > 2
    return upended or min(angle, abs(angle - 180)) > _UPRIGHT


def _skew(lines: list[dict[str, Any]]) -> float:
    """Return the median slope of long lines, in degrees clockwise."""
    slopes = []
    for line in lines:
        (x0, y0), (x1, y1), _, (x3, y3) = line["quad"]
        if math.hypot(x1 - x0, y1 - y0) > 5 * math.hypot(x3 - x0, y3 - y0):
            slopes.append(math.degrees(math.atan2(y1 - y0, x1 - x0)))
    skew = statistics.median(slopes) if len(slopes) >= 3 else 0.0
    return skew if _LEAST_SKEW <= abs(skew) <= _MOST_SKEW else 0.0


def _even_out(lines: list[Line]) -> list[Line]:
    """Equalise similar line heights.

    A detected line's height depends on its letters' descenders. Taken as font sizes, unequal
    heights would make headings of half a paragraph.
    """
    evened = list(lines)
    rest = sorted(range(len(lines)), key=lambda number: lines[number].box.height)
    while rest:
        usual = lines[rest[len(rest) // 2]].box.height
        alike = [n for n in rest if usual / _ALIKE <= lines[n].box.height <= usual * _ALIKE]
        for number in alike:
            box = lines[number].box
            middle = (box.top + box.bottom) / 2
            box = Box(box.left, middle - usual / 2, box.right, middle + usual / 2)
            evened[number] = lines[number]._replace(box=box, size=usual)
        rest = [number for number in rest if number not in alike]
    return evened


def _line(found: dict[str, Any], frame: PageFrame, scale: float) -> Line:
    corners = [frame.straightened(x * scale, y * scale) for x, y in found["quad"]]
    xs, ys = zip(*corners, strict=True)
    box = Box(min(xs), min(ys), max(xs), max(ys))
    words = tuple(
        Word(text, confidence, (box.left + start * box.width, box.left + end * box.width))
        for text, confidence, start, end in found["words"]
    )
    edges = [word.edges for word in words if word.edges]
    if edges:
        # The detector's boxes reach beyond the ink, and in a narrow gutter meet.
        # In Hebrew and Arabic, the first word is the rightmost.
        box = box._replace(left=min(edges)[0], right=max(end for _, end in edges))
    text = " ".join(found["text"].split())
    return Line(text, box, box.height, words or (Word(text, found["confidence"]),))


def recognise_part(
    picture: Image.Image, box: Box, size: tuple[float, float], look: Look
) -> PageParts:
    """Read a box of an upright page of `size` points; `picture` shows the whole page."""
    scale = picture.width / size[0]
    left, top, right, bottom = (round(edge * scale) for edge in box)
    part = recognise_page(picture.crop((left, top, right, bottom)), (box.width, box.height), look)
    frame = part.frame

    def place(line: Line) -> Line:
        whole = _move(frame.on_page(line.box), box)
        return line.moved(whole.left - line.box.left, whole)

    lines, slanted = [*map(place, part.lines)], [*map(place, part.apart)]
    if frame.turn:
        lines, slanted = [], [*lines, *slanted]
    rules = [] if frame.turn or frame.skew else [rule.moved(box) for rule in part.rules]
    figures = [_move(frame.on_page(figure), box) for figure in part.figures]
    return PageParts(PageFrame(*size), lines=lines, apart=slanted, rules=rules, figures=figures)


def recognise_line(
    picture: Image.Image, box: Box, size: tuple[float, float], look: Look
) -> PageParts:
    """Read a line whose box is known, as by `recognise_part`."""
    start, end = max(0.0, box.left - _AROUND), min(size[0], box.right + _AROUND)
    around = Box(start, max(0.0, box.top - _AROUND), end, min(size[1], box.bottom + _AROUND))
    part = recognise_part(picture, around, size, look)
    lines = [
        line._replace(box=line.box._replace(top=box.top, bottom=box.bottom), size=box.height)
        for line in part.lines
    ]
    return replace(part, lines=lines)


def _move(box: Box, by: Box) -> Box:
    return Box(box.left + by.left, box.top + by.top, box.right + by.left, box.bottom + by.top)


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


def find_figures(
    picture: Image.Image, frame: PageFrame, lines: Sequence[Line], rules: Sequence[Rule]
) -> list[Box]:
    """Find figures in a page's picture, in points of the upright page."""
    width, height = frame.upright_size
    grey = picture.convert("L").rotate(frame.turn, expand=True)
    cell = max(_CELL, (width * height / _MOST_CELLS) ** 0.5)
    grid = (max(1, round(width / cell)), max(1, round(height / cell)))
    grey = grey.resize(grid, Image.Resampling.BOX)
    paper = float(np.percentile(np.asarray(grey), 80))
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
            drawn = _off_rules(patch, cell, rules)
            if len(drawn) < _DRAWN * len(patch):
                continue
            box = _box(drawn, cell)
        if min(box.width, box.height) >= _LEAST_SIDE:
            found.append(box)
    return found


def _box(squares: Squares, cell: float) -> Box:
    (top, left), (bottom, right) = (squares.min(0) * cell).tolist(), (squares.max(0) + 1).tolist()
    return Box(left, top, right * cell, bottom * cell)


def _off_rules(squares: Squares, cell: float, rules: Sequence[Rule]) -> Squares:
    """Return the squares without those that a rule runs through or right beside."""
    y, x = ((squares + 0.5) * cell).T[..., None]
    across, at, start, end, _ = np.array(rules, float).reshape(-1, 5).T
    along, beside = np.where(across, x, y), np.where(across, y, x)
    on_rule = (abs(beside - at) <= cell) & (start - cell <= along) & (along <= end + cell)
    drawn: Squares = squares[~on_rule.any(1)]
    return drawn


def _patches(ink: NDArray[np.bool_]) -> list[Squares]:
    """Group squares with ink that are near each other."""
    reach = np.ones((_REACH, _REACH), np.uint8)
    owners = cv2.connectedComponents(cv2.dilate(ink.astype(np.uint8), reach))[1][ink]
    squares = np.argwhere(ink)[owners.argsort()]
    return [patch for patch in np.split(squares, np.bincount(owners)[1:].cumsum()) if len(patch)]
