"""Reads a page's picture as upright lines of text, inside a parser."""

import math
import statistics
from dataclasses import dataclass, field, replace
from typing import Any

from PIL import Image

from carrel.server.reading.doubt import doubt, is_doubtful
from carrel.server.reading.fence import fenced
from carrel.server.reading.page.elements import Box, Line, PageFrame, Word
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.scans.figures import pictured_figures
from carrel.server.reading.scans.looking import Look
from carrel.server.reading.scans.rules import pictured_rules

_ALIKE = 1.35
"""Heights within this factor are one font size."""
_UPRIGHT = 20.0
"""Degrees. A line at a greater angle is not part of the flow."""
_UPENDED = 1.5
"""A line of several letters with at least this height-to-width ratio was read sideways."""
_LEAST_SKEW, _MOST_SKEW = 0.15, 20.0


@dataclass(frozen=True)
class PageScan:
    """The straightened contents of a page's picture, in points of the upright page.

    `slanted` are the lines that do not read across the page, from left to right.
    """

    frame: PageFrame
    lines: list[Line] = field(default_factory=list)
    slanted: list[Line] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    figures: list[Box] = field(default_factory=list)


def recognise_page(picture: Image.Image, size: tuple[float, float], look: Look) -> PageScan:
    """Read a picture of a page of `size` points and detect its quarter turn and skew."""
    if picture.getcolors(1):
        # Skip blank pages: a document may have thousands.
        return PageScan(PageFrame(*size))
    answer = look(picture)
    if is_doubtful(answer):
        doubt()
    turn, found = answer["turn"], answer["lines"]
    skew = _skew(found)
    frame = PageFrame(*size, turn=turn, skew=skew)
    width = picture.height if turn in (90, 270) else picture.width
    scale = frame.upright_size[0] / width
    lines = _evened([_line(line, frame, scale) for line in found if not _slanted(line, skew)])
    slanted = [_line(line, frame, scale) for line in found if _slanted(line, skew)]
    slanted.sort(key=lambda line: line.box.centre)
    texts = [*lines, *slanted]
    rules = fenced("pictured rules", pictured_rules, picture, frame) or []
    figures = fenced("pictured figures", pictured_figures, picture, frame, texts, rules) or []
    return PageScan(
        frame,
        lines,
        slanted,
        rules,
        figures,
    )


def _slanted(line: dict[str, Any], skew: float) -> bool:
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


def _evened(lines: list[Line]) -> list[Line]:
    """Equalise similar line heights.

    A detected line's height depends on its letters' descenders. Taken as font sizes, unequal
    heights would make headings of half a paragraph.
    """
    evened: dict[int, Line] = {}
    rest = sorted(range(len(lines)), key=lambda number: lines[number].box.height)
    while rest:
        usual = lines[rest[len(rest) // 2]].box.height
        alike = [n for n in rest if usual / _ALIKE <= lines[n].box.height <= usual * _ALIKE]
        for number in alike:
            box = lines[number].box
            middle = (box.top + box.bottom) / 2
            box = Box(box.left, middle - usual / 2, box.right, middle + usual / 2)
            evened[number] = replace(lines[number], box=box, size=usual)
        rest = [number for number in rest if number not in evened]
    return [evened[number] for number in range(len(lines))]


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
