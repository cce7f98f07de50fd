"""A picture of a page to upright lines of text, inside a parser."""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from carrel.server.reading.figures import pictured_figures
from carrel.server.reading.layout import Box, Frame, Line, Word
from carrel.server.reading.tables.pictured import pictured_rules
from carrel.server.reading.tables.rules import Rule

Recognise = Callable[[Image.Image], dict[str, Any]]
"""Asks the OCR process (by way of the server) for the turn and the lines of an RGB picture."""

_ALIKE = 1.35
"""Heights within this factor are those of one font size."""
_LEAST_SKEW, _MOST_SKEW = 0.15, 20.0


@dataclass(frozen=True)
class Scan:
    """The lines, rules and figures of a page, straightened, in points of the upright page."""

    frame: Frame
    lines: list[Line]
    rules: list[Rule]
    figures: list[Box]


def recognise_page(picture: Image.Image, size: tuple[float, float], ask: Recognise) -> Scan:
    """Reads a picture of a page of `size` points, finding its quarter turn and skew."""
    answer = ask(picture)
    turn, found = answer["turn"], answer["lines"]
    skew = _skew(found)
    frame = Frame(*size, turn=turn, skew=skew)
    width = picture.height if turn in (90, 270) else picture.width
    scale = frame.upright_size[0] / width
    lines = _evened([_line(line, frame, scale) for line in found])
    figures = pictured_figures(picture, frame, lines)
    return Scan(frame, lines, pictured_rules(picture, frame), figures)


def _skew(lines: list[dict[str, Any]]) -> float:
    """The usual slope of long lines, in degrees clockwise."""
    slopes = []
    for line in lines:
        (x0, y0), (x1, y1), _, (x3, y3) = line["quad"]
        if math.hypot(x1 - x0, y1 - y0) > 5 * math.hypot(x3 - x0, y3 - y0):
            slopes.append(math.degrees(math.atan2(y1 - y0, x1 - x0)))
    skew = statistics.median(slopes) if len(slopes) >= 3 else 0.0
    return skew if _LEAST_SKEW <= abs(skew) <= _MOST_SKEW else 0.0


def _evened(lines: list[Line]) -> list[Line]:
    """The lines with like heights made equal.

    A found line is as high as the letters on it, with or without descenders; taken for font
    sizes, these heights would make headings of half a paragraph.
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


def _line(found: dict[str, Any], frame: Frame, scale: float) -> Line:
    corners = [frame.straightened(x * scale, y * scale) for x, y in found["quad"]]
    xs, ys = zip(*corners, strict=True)
    box = Box(min(xs), min(ys), max(xs), max(ys))
    words = tuple(Word(text, confidence) for text, confidence in found["words"])
    text = " ".join(found["text"].split())
    return Line(text, box, box.height, words or (Word(text, found["confidence"]),))
