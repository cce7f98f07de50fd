"""Finds rules in a page's picture."""

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from carrel.server.reading.page.elements import PageFrame
from carrel.server.reading.page.rules import Rule, joined
from carrel.server.reading.scans.noise import NOISY, noise

_ACROSS, _DOWN = 25.0, 12.0
"""Points. Least length of a rule across and down: letters have shorter strokes."""
_DARKER = 20
"""Least darkness of a rule relative to its surroundings, of 255."""
_GRAINS = 4.0
"""Least darkness of a rule above the grain that is left, in standard deviations of the grain."""
_AVERAGED = 7
"""Pixels along a rule that are averaged in a noisy picture: its grain would break the rule."""
_THICK = 3.0
"""Points. A thicker bar is not a rule."""
_MOST_RUNS = 20_000
_TALL, _INNER = 100.0, 0.7
"""Least length in points of a rule that parts columns, and the part of the page where it stands."""
_TOUCH = 4.0
"""Points. Maximum gap between rules that meet."""


def find_rules(picture: Image.Image, frame: PageFrame) -> list[Rule]:
    """Find rules that may frame tables, in points of the page's upright layout."""
    upright = picture.convert("L").rotate(frame.turn, expand=True)
    grey = upright.rotate(frame.skew, Image.Resampling.BILINEAR, fillcolor=255)
    points = frame.upright_size[0] / grey.width
    level, standing = _strokes(np.asarray(grey), points)
    across, down = (
        joined(
            [
                Rule(is_across, (at + 0.5) * points, start * points, end * points)
                for at, start, end in _runs(strokes, least / points)
            ]
        )
        for is_across, strokes, least in ((True, level, _ACROSS), (False, standing, _DOWN))
    )
    crossing = [rule for rule in down if any(rule.box.is_near(o.box, _TOUCH) for o in across)]
    # One that meets none parts columns, or is a large letter's stroke or a scan's dark edge.
    middle = frame.upright_size[0] / 2
    tall = [r for r in down if r.end - r.start > _TALL and abs(r.at / middle - 1) < _INNER]
    return [*across, *dict.fromkeys(crossing + tall)]


def _strokes(
    pixels: NDArray[np.uint8], points: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the masks of thin horizontal strokes and, transposed, of vertical ones."""
    grain = noise(pixels)
    if grain < NOISY:
        thin = _thin(pixels, points, _DARKER)
        return thin, thin.T
    # Averaged alone, a line of small text would be a rule: its letters have gaps.
    thin = _thin(pixels, points, _DARKER + round(_GRAINS / 2 * grain))
    darker = _DARKER + round(_GRAINS * grain / _AVERAGED**0.5)
    sizes = ((_AVERAGED, 1), (1, _AVERAGED))
    averaged = (cv2.blur(pixels, size, borderType=cv2.BORDER_REPLICATE) for size in sizes)
    across, down = (_thin(np.asarray(each, np.uint8), points, darker) for each in averaged)
    return thin & across, (thin & down).T


def _thin(pixels: NDArray[np.uint8], points: float, darker_by: int) -> NDArray[np.bool_]:
    """Return masks of thin strokes, each darker than a place near it in every quarter.

    Such a place may lie between a rule and a letter, or in a corner of two rules.
    """
    distance = max(2, round(_THICK / points))
    dark = np.zeros(pixels.shape, np.bool_)
    if min(pixels.shape) <= 2 * distance:
        return dark
    least = np.uint8(min(darker_by, 255))
    inner = (slice(distance, -distance),) * 2
    lightest = cv2.dilate(pixels, np.ones((distance, distance), np.uint8), anchor=(0, 0))
    # The squares that touch a pixel with a corner.
    near, far = slice(None, -2 * distance), slice(distance + 1, 1 - distance)
    quarters = [lightest[down, across] for down in (near, far) for across in (near, far)]
    darker = np.minimum(pixels[inner], 255 - least) + least
    dark[inner] = np.minimum.reduce(quarters) > darker
    return dark


def _runs(dark: NDArray[np.bool_], least: float) -> list[tuple[int, int, int]]:
    """Return the unbroken runs of at least `least` pixels: row, start and end.

    A rule that is not quite level continues in the row above or below.
    """
    dark = np.asarray(cv2.dilate(dark.astype(np.uint8), np.ones((3, 1), np.uint8)), np.bool_)
    # Pad both ends with white: changes come in pairs, and no run crosses rows.
    framed = np.pad(dark, ((0, 0), (1, 1))).ravel()
    changes = np.flatnonzero(framed[1:] != framed[:-1])
    starts, ends = changes[::2], changes[1::2]
    long = np.flatnonzero(ends - starts >= least)[:_MOST_RUNS]
    width = dark.shape[1] + 2
    return [(int(starts[n]) // width, int(starts[n]) % width, int(ends[n]) % width) for n in long]
