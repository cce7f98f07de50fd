"""Finds rules in a page's picture."""

from typing import TYPE_CHECKING

from PIL import Image

from carrel.server.reading.page.elements import PageFrame
from carrel.server.reading.page.rules import Rule, joined
from carrel.server.reading.scans.looking import turned_back

if TYPE_CHECKING:
    from numpy import bool_, uint8
    from numpy.typing import NDArray

_ACROSS, _DOWN = 25.0, 12.0
"""Points. Least length of a rule across and down: letters have shorter strokes."""
_DARKER = 20
"""Least darkness of a rule relative to its surroundings, of 255."""
_GRAINS = 4.0
"""That darkness above the grain that is left, in standard deviations of the grain."""
_AVERAGED = 7
"""Pixels along a rule that are averaged in a noisy picture: its grain would break the rule."""
_NOISY = 6.0
"""Least grain of a noisy picture, in greys of 255."""
_SAMPLED = 8
"""Every how many rows the grain is measured."""
_THICK = 3.0
"""Points. A thicker bar is not a rule."""
_MOST_RUNS = 20_000
_TOUCH = 4.0
"""Points. Maximum gap between rules that meet."""


def pictured_rules(picture: Image.Image, frame: PageFrame) -> list[Rule]:
    """Find rules that may frame tables, in points of the page's upright layout."""
    # Import late: only pages that need OCR pay for it.
    import numpy as np

    grey = turned_back(picture.convert("L"), frame)
    if frame.skew:
        grey = grey.rotate(frame.skew, Image.Resampling.BILINEAR, fillcolor=255)
    points = frame.upright_size[0] / grey.width
    level, standing = _strokes(np.asarray(grey), points)
    across = [
        Rule(True, (row + 0.5) * points, start * points, end * points)
        for row, start, end in _runs(_level(level), _ACROSS / points)
    ]
    down = [
        Rule(False, (column + 0.5) * points, start * points, end * points)
        for column, start, end in _runs(_level(standing), _DOWN / points)
    ]
    return _meeting(joined(across), joined(down))


def _strokes(pixels: "NDArray[uint8]", points: float) -> tuple["NDArray[bool_]", "NDArray[bool_]"]:
    """Return masks of thin strokes that may be level and, transposed, of those that may stand."""
    grain = _grain(pixels)
    if grain < _NOISY:
        thin = _thin(pixels, points, _DARKER)
        return thin, thin.T
    # Averaged alone, a line of small text would be a rule: its letters have gaps.
    thin = _thin(pixels, points, _DARKER + round(_GRAINS / 2 * grain))
    darker = _DARKER + round(_GRAINS * grain / _AVERAGED**0.5)
    return (
        thin & _thin(_averaged(pixels), points, darker),
        thin.T & _thin(_averaged(pixels.T), points, darker),
    )


def _averaged(pixels: "NDArray[uint8]") -> "NDArray[uint8]":
    """Return each pixel as the mean of those beside it on its row."""
    import numpy as np

    half = _AVERAGED // 2
    sums = np.cumsum(np.pad(pixels, ((0, 0), (half + 1, half)), "edge"), 1, np.uint32)
    return ((sums[:, _AVERAGED:] - sums[:, :-_AVERAGED]) // _AVERAGED).astype(np.uint8)


def _thin(pixels: "NDArray[uint8]", points: float, darker_by: int) -> "NDArray[bool_]":
    """Return masks of thin strokes, each darker than a place near it in every quarter.

    Such a place may lie between a rule and a letter, or in a corner of two rules.
    """
    import numpy as np

    distance = max(2, round(_THICK / points))
    dark = np.zeros(pixels.shape, np.bool_)
    if min(pixels.shape) <= 2 * distance:
        return dark
    least = np.uint8(min(darker_by, 255))
    inner = (slice(distance, -distance),) * 2
    lightest = _lightest_of_squares(pixels, distance)
    # The squares that touch a pixel with a corner.
    near, far = slice(None, -distance - 1), slice(distance + 1, None)
    quarters = [lightest[down, across] for down in (near, far) for across in (near, far)]
    darker = np.minimum(pixels[inner], 255 - least) + least
    dark[inner] = np.minimum.reduce(quarters) > darker
    return dark


def _grain(pixels: "NDArray[uint8]") -> float:
    """Return the standard deviation of a picture's grain, in greys."""
    import numpy as np

    above, rows, below = (pixels[start::_SAMPLED].astype(np.int16) for start in range(3))
    count = min(map(len, (above, rows, below)))
    bent = above[:count] - 2 * rows[:count] + below[:count]
    # The residual that no neighbour explains; see J. Immerkær, Fast Noise Variance Estimation.
    rest = np.abs(bent[:, 2:] - 2 * bent[:, 1:-1] + bent[:, :-2])
    return float(np.median(rest)) / 0.6745 / 6 if rest.size else 0.0


def _lightest_of_squares(pixels: "NDArray[uint8]", side: int) -> "NDArray[uint8]":
    """Return the lightest pixel of the square with its top left corner at each pixel."""
    import numpy as np

    reached = 1
    while reached < side:
        # Two overlapping squares form one up to twice as large.
        step = min(reached, side - reached)
        pixels = np.maximum(pixels[:-step], pixels[step:])
        pixels = np.maximum(pixels[:, :-step], pixels[:, step:])
        reached += step
    return pixels


def _level(dark: "NDArray[bool_]") -> "NDArray[bool_]":
    """Add the rows above and below, where a rule that is not quite level continues."""
    level = dark.copy()
    level[1:] |= dark[:-1]
    level[:-1] |= dark[1:]
    return level


def _runs(dark: "NDArray[bool_]", least: float) -> list[tuple[int, int, int]]:
    """Return the unbroken runs of at least `least` pixels: row, start and end."""
    import numpy as np

    # Pad both ends with white: changes come in pairs, and no run crosses rows.
    framed = np.pad(dark, ((0, 0), (1, 1))).ravel()
    changes = np.flatnonzero(framed[1:] != framed[:-1])
    starts, ends = changes[::2], changes[1::2]
    long = np.flatnonzero(ends - starts >= least)[:_MOST_RUNS]
    width = dark.shape[1] + 2
    return [(int(starts[n]) // width, int(starts[n]) % width, int(ends[n]) % width) for n in long]


def _meeting(across: list[Rule], down: list[Rule]) -> list[Rule]:
    """Drop strokes of large letters: a rule down must meet one across."""
    kept = [
        rule
        for rule in down
        if any(
            other.start - _TOUCH <= rule.at <= other.end + _TOUCH
            and rule.start - _TOUCH <= other.at <= rule.end + _TOUCH
            for other in across
        )
    ]
    return [*across, *kept]
