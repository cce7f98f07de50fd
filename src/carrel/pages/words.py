"""A word found in the picture of its block: no service says where the words of a block are."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from PIL import Image

SMALL = 600
"""Longer side, in pixels, of the picture by which the skew is measured."""
SKEWS = tuple(step * 0.4 for step in range(-15, 16))
"""Skews that are tried, in degrees."""
RULE = 150
"""Mean ink of a row or column, of 255, from which it is a rule of a table."""
MOST_WORDS = 1500
"""A word is not looked for in a block of more words."""
BAND = 40
"""Most words by which the order in the picture and in the text may differ."""
GOOD = 0.6
"""Cost a word below which no other turn of the block is tried."""
TURNED = 1.5
"""Factor of a turned block's cost: a short line costs much the same upside down."""
POOR = 1.5
"""Cost a word from which the words are not those of the picture."""
AROUND, LEAST = 0.8, 4.0
"""Room on each side of a word, and the least width of its picture, in heights of its line."""
ABOVE = 0.25
"""Room above and below a word, in heights of its line."""
NARROW, WIDE = frozenset("iljtfrI.,;:'!|()[]1’-"), frozenset("mwMW@%—")


class Piece(NamedTuple):
    """A run of ink in a line: mostly a word."""

    line: int
    left: int
    right: int


@dataclass(frozen=True)
class BlockWords:
    """The pieces of an upright picture of a block, aligned with its words.

    A lower `cost` per word is better.
    """

    picture: Image.Image
    lines: Sequence[tuple[int, int]]
    pieces: Sequence[Piece | None]
    cost: float

    def crop(self, index: int) -> Image.Image | None:
        """Return the part of the picture around a word, or None if it was not found."""
        if (piece := self.pieces[index]) is None:
            return None
        top, bottom = self.lines[piece.line]
        height = bottom - top
        middle = (piece.left + piece.right) / 2
        half = max((piece.right - piece.left) / 2 + AROUND * height, LEAST * height / 2)
        left = min(max(middle - half, 0), max(self.picture.width - 2 * half, 0))
        right = min(left + 2 * half, self.picture.width)
        above, below = max(top - ABOVE * height, 0), bottom + ABOVE * height
        return self.picture.crop(
            (int(left), int(above), int(right), int(min(below, self.picture.height)))
        )


def find_words(block: Image.Image, words: Sequence[str]) -> BlockWords | None:
    """Align the words of a block with its picture; None if it does not show them."""
    if len(words) > MOST_WORDS:
        return None
    best, least = None, POOR
    for angle in (0, 90, 270, 180):
        one = _read(block, angle, words)
        if one is None:
            continue
        cost = one.cost if angle == 0 else TURNED * one.cost
        if cost <= least:
            best, least = one, cost
        if one.cost < GOOD:
            break
    return best


def _read(block: Image.Image, angle: int, words: Sequence[str]) -> BlockWords | None:
    """Align the words of a block with its picture, turned by an angle and without skew."""
    turned = block.rotate(angle, expand=True, fillcolor="white")
    ink = _ink(turned)
    skew = _skew(ink)
    upright = turned.rotate(skew, Image.Resampling.BICUBIC, fillcolor="white") if skew else turned
    ink = _without_rules(_ink(upright))
    lines = _lines(ink)
    if not lines:
        return None
    runs = [_runs(_columns(ink.crop((0, top, ink.width, bottom))), 1) for top, bottom in lines]
    gaps = [b[0] - a[1] for run in runs for a, b in pairwise(run)]
    between = max(len(words) - len(lines), 0)
    widest = sorted(gaps, reverse=True)[:between]
    least = max(0.75 * widest[-1] if widest else max(gaps, default=0) + 1, 1)
    pieces = [
        Piece(line, left, right)
        for line, run in enumerate(runs)
        for left, right in _join_runs(run, least)
    ]
    placed, cost = _align([_weight(word) for word in words], pieces)
    return BlockWords(upright, lines, placed, cost / max(len(words), 1))


def _ink(picture: Image.Image) -> Image.Image:
    """Return the print as white on black, whatever the picture's colours."""
    grey = picture.convert("L")
    counts = grey.histogram()
    total = grey.width * grey.height
    paper = _percentile(counts, total / 2)
    if paper < 128:
        grey, paper = grey.point(lambda value: 255 - value), 255 - paper
        counts = counts[::-1]
    darkest = _percentile(counts, total / 100)
    limit = (paper + darkest) / 2 if paper - darkest > 30 else 0
    return grey.point([255 * (value < limit) for value in range(256)])


def _percentile(counts: Sequence[int], rank: float) -> int:
    reached = 0
    for value, count in enumerate(counts):
        reached += count
        if reached >= rank:
            return value
    return 255


def _skew(ink: Image.Image) -> float:
    """Return the turn in degrees that lets lines of text run along the rows."""
    scale = SMALL / max(ink.size)
    size = (max(round(ink.width * scale), 1), max(round(ink.height * scale), 1))
    small = ink.resize(size, Image.Resampling.BOX)
    return max(SKEWS, key=lambda degrees: _steepness(small, degrees))


def _steepness(ink: Image.Image, degrees: float) -> float:
    """Return how much neighbouring rows differ in ink."""
    rows = _rows(ink.rotate(degrees, Image.Resampling.BILINEAR) if degrees else ink)
    return sum((a - b) ** 2 for a, b in pairwise(rows)) / len(rows)


def _rows(ink: Image.Image) -> Sequence[int]:
    return ink.resize((1, ink.height), Image.Resampling.BOX).tobytes()


def _columns(ink: Image.Image) -> Sequence[int]:
    return ink.resize((ink.width, 1), Image.Resampling.BOX).tobytes()


def _without_rules(ink: Image.Image) -> Image.Image:
    rows, columns = _rows(ink), _columns(ink)
    for y, mean in enumerate(rows):
        if mean >= RULE:
            ink.paste(0, (0, y, ink.width, y + 1))
    for x, mean in enumerate(columns):
        if mean >= RULE:
            ink.paste(0, (x, 0, x + 1, ink.height))
    return ink


def _runs(profile: Sequence[int], least: int) -> list[tuple[int, int]]:
    """Return where a profile is at least `least`, as begin and end."""
    found: list[tuple[int, int]] = []
    begin = None
    for at, value in enumerate((*profile, 0)):
        if value >= least and begin is None:
            begin = at
        elif value < least and begin is not None:
            found.append((begin, at))
            begin = None
    return found


def _lines(ink: Image.Image) -> list[tuple[int, int]]:
    """Return the lines' tops and bottoms; accents and dots belong to the nearest line."""
    runs = _runs(_rows(ink), 1)
    heights = sorted(bottom - top for top, bottom in runs)
    usual = heights[len(heights) * 3 // 4] if heights else 0
    lines: list[tuple[int, int]] = []
    for at, (top, bottom) in enumerate(runs):
        is_small = bottom - top < 0.4 * usual
        before = top - lines[-1][1] if lines else usual
        after = runs[at + 1][0] - bottom if at + 1 < len(runs) else usual
        if is_small and lines and before <= after:
            lines[-1] = (lines[-1][0], bottom)
        elif is_small and at + 1 < len(runs):
            runs[at + 1] = (top, runs[at + 1][1])
        elif not is_small:
            lines.append((top, bottom))
    return lines


def _join_runs(runs: Sequence[tuple[int, int]], least: float) -> Iterator[tuple[int, int]]:
    """Yield the runs, joined over gaps below `least`."""
    begin = end = None
    for left, right in runs:
        if begin is None or end is None:
            begin = left
        elif left - end >= least:
            yield begin, end
            begin = left
        end = right
    if begin is not None and end is not None:
        yield begin, end


def _weight(word: str) -> float:
    """Return the width of a word, in widths of a usual letter."""
    return sum(
        2.0 if unicodedata.east_asian_width(letter) in "WF"
        else 0.55 if letter in NARROW
        else 1.5 if letter in WIDE
        else 1.2 if letter.isupper()
        else 1.0
        for letter in word
    )  # fmt: skip


def _align(weights: Sequence[float], pieces: Sequence[Piece]) -> tuple[list[Piece | None], float]:
    """Return the piece of each word, and the cost of the alignment.

    A word may consist of several pieces, two words may be one, and either may be missing: signs
    before items are no words, and OCR splits and joins.
    """
    count, room = len(weights), len(pieces)
    inked = sum(piece.right - piece.left for piece in pieces)
    unit = max(inked / max(sum(weights), 1), 1e-9)
    best: dict[tuple[int, int], tuple[float, int, int]] = {(0, 0): (0.0, 0, 0)}
    for i in range(count + 1):
        middle = i * room // max(count, 1)
        for j in range(max(middle - BAND, 0), min(middle + BAND, room) + 1):
            if (i, j) not in best:
                continue
            base = best[i, j][0]
            for words, used, cost in _steps(weights, pieces, i, j, unit):
                step = (base + cost, i, j)
                key = (i + words, j + used)
                if key not in best or step < best[key]:
                    best[key] = step
    placed: list[Piece | None] = [None] * count
    at = (count, room)
    total = best.get(at, (float("inf"), 0, 0))[0]
    while at in best and at != (0, 0):
        _, i, j = best[at]
        _place(placed, weights, pieces, (i, at[0]), (j, at[1]))
        at = (i, j)
    return placed, total


def _steps(
    weights: Sequence[float], pieces: Sequence[Piece], i: int, j: int, unit: float
) -> Iterator[tuple[int, int, float]]:
    """Yield the numbers of words and pieces that may come next, and the cost of their match."""
    if i < len(weights):
        yield 1, 0, weights[i] + 0.5
    if j >= len(pieces):
        return
    here = (pieces[j].right - pieces[j].left) / unit
    yield 0, 1, 0.7 * here + 0.5
    if i >= len(weights):
        return
    for used in range(1, min(3, len(pieces) - j) + 1):
        first, last = pieces[j], pieces[j + used - 1]
        if first.line == last.line:
            inked = (last.right - first.left) / unit
        elif used == 2:  # hyphenated
            inked = here + (last.right - last.left) / unit - 0.6
        else:
            continue
        yield 1, used, abs(inked - weights[i]) + 0.4 * (used - 1)
    if i + 1 < len(weights):
        yield 2, 1, abs(here - weights[i] - weights[i + 1] - 0.7) + 0.5


def _place(
    placed: list[Piece | None],
    weights: Sequence[float],
    pieces: Sequence[Piece],
    words: tuple[int, int],
    used: tuple[int, int],
) -> None:
    """Divide some pieces among the words that they show."""
    own = pieces[used[0] : used[1]]
    if not own or words[0] == words[1]:
        return
    first = own[0]
    right = max(piece.right for piece in own if piece.line == first.line)
    share = (right - first.left) / sum(weights[words[0] : words[1]])
    left = float(first.left)
    for word in range(*words):
        end = left + share * weights[word]
        placed[word] = Piece(first.line, int(left), int(end))
        left = end
