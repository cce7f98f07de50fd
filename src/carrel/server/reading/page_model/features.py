"""Features of pieces and of pairs of neighbours: what the page model looks at.

Lengths are in type sizes of the page's text, so that small and large print look alike.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule, Shade

Floats = NDArray[np.floating[Any]]
Indexes = NDArray[np.intp]

DIRECTIONS = ("right", "left", "below", "above")
_FAR = 30.0
"""Farthest distance that is told apart, in type sizes."""
_SAME_EDGE = 0.25
"""Edges nearer than this are aligned, in type sizes."""
_AROUND = 20.0
"""Type sizes above and below within which aligned pieces are counted."""
_MOST_RULES = 1500
"""Most rules that are looked at: a map has more."""
_LABEL = re.compile(
    r"(fig|tab|plate|chart|graph|map|box|exhibit|diagram|abb|grafik|gráfico|рис|табл|εικ|πίν"
    r"|الشكل|جدول|איור|טבלה|图|表|圖)\w*\.?\s*([A-Z]{1,3}[. -]?)?\d",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+−–(<>≤≥~±]{0,3}\s?[$€£¥]?\s?\d[\d.,:  '’/±]*\s?[%‰)€$£¥*†‡]{0,3}")
_LIST = re.compile(
    r"[•◦▪‣●○■□·∙➢➤►✓✔❖–—*-](\s|$)|[\uf020-\uf0ff]"
    r"|\(?(\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)](\s|$)"
)
_SECTION = re.compile(r"(\d{1,2}(\.\d{1,2})*|[A-Z](\.\d+)+|[IVX]+|§\s?\d+)[.:]?\s+\S")
_FOLIO = re.compile(
    r"\W{0,3}(page|p\.|seite|pág\w*|стр\w*)?\s?(\d{1,4}|[ivxlc]{1,7})"
    r"(\s?(/|of|von|de|из)\s?\d+)?\W{0,3}",
    re.IGNORECASE,
)
_LEADER = re.compile(r"…|\.(?: ?\.){3}")
# A search is fast where each alternative begins with a sign of its own.
_REFERENCE = re.compile(
    r"\[\w{1,12}\]|19\d\d[a-z]?\)?[.,;:)]|20\d\d[a-z]?\)?[.,;:)]|d(?<=\bd)oi\b|et al"
    r"|p(p)?\. ?\d|http(s)?:|www\."
)
_CODE = re.compile(
    r"\{|\}|;|\((?<=\w\()|==|=>|->|::|_(?<=[a-z]_)[a-z]|</|/>|#(?<=^#)|/(?<=^/)/|\$(?<=^\$) "
)


@dataclass(frozen=True)
class Surroundings:
    """The drawings on a page around its text, and the page's size in points."""

    width: float
    height: float
    rules: Sequence[Rule] = ()
    shades: Sequence[Shade] = ()
    figures: Sequence[Box] = ()
    scanned: bool = False


@dataclass(frozen=True)
class PageFeatures:
    """The features of a page's pieces.

    `pieces` has a row for each piece. `neighbours` has for each direction the number of each
    piece's nearest neighbour, or the count of pieces where there is none; `pairs` the features of
    each with that neighbour. `rows` are the numbers of their rows.
    """

    pieces: Floats
    neighbours: Indexes
    pairs: Floats
    rows: Indexes


def page_features(rows: Sequence[Sequence[Line]], around: Surroundings) -> PageFeatures:
    """Return the features of at least one piece of text, in the order of the rows."""
    pieces = [piece for row in rows for piece in row]
    number_of_row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    geometry = _Geometry(pieces, number_of_row, around)
    columns = [*_text_columns(pieces), *_style_columns(geometry), *geometry.place_columns()]
    neighbours = geometry.neighbours()
    own = _stack(columns, len(pieces))
    return PageFeatures(own, neighbours, geometry.of_pairs(neighbours), number_of_row)


def _stack(columns: Sequence[Any], count: int) -> Floats:
    """Return columns of numbers, or of one that all share, side by side."""
    rows = np.empty((len(columns), count), np.float32)
    for number, column in enumerate(columns):
        rows[number] = column
    return rows.T


def _codes() -> NDArray[np.uint8]:
    """Return the class of each letter of the basic plane as a bit."""
    # Ideographs and anything else beyond are letters of another script.
    table = np.full(0x3001, 0b10000010, np.uint8)
    for code in range(0x3000):
        letter = chr(code)
        table[code] = (
            letter.isdigit()
            | letter.isalpha() << 1
            | letter.isupper() << 2
            | letter.islower() << 3
            | (letter in ".,;:!?()[]{}/\"'-–—“”‘’«»") << 4
            | (letter in "$€£¥%‰°±×=+−<>≤≥≈∑∫√∂∞∈^_|\\~*†‡§") << 5
            | letter.isspace() << 6
            | (code >= 0x370 and letter.isalpha()) << 7
        )
    return table


_CODES = _codes()
_CLASSES = np.flatnonzero(np.bincount(_CODES)).astype(np.uint8)
_CLASS_OF = np.searchsorted(_CLASSES, _CODES)
_BITS = np.unpackbits(_CLASSES[:, None], 1, bitorder="little").astype(float)
_ENDS = ".,;:!?-)"


def _text_columns(pieces: Sequence[Line]) -> list[Floats]:
    """Return the shares of kinds of letters, the first and last letter, and a text's looks."""
    texts = [piece.text or " " for piece in pieces]
    lengths = np.array(list(map(len, texts)))
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), np.uint32)
    classes = _CLASS_OF[np.minimum(codes, len(_CLASS_OF) - 1)]
    ends = np.cumsum(lengths) - 1
    starts = ends - lengths + 1
    of_piece = np.repeat(np.arange(len(texts)) * len(_BITS), lengths)
    held = np.bincount(of_piece + classes, minlength=len(texts) * len(_BITS))
    columns = [*(held.reshape(len(texts), -1) @ _BITS / lengths[:, None]).T]
    words = columns[6] * lengths + 1
    columns += [np.log1p(lengths), np.log1p(words), lengths / words / 10]
    first, last = _CLASSES[classes[starts]], _CLASSES[classes[ends]]
    columns += [(first >> bit) & 1 for bit in (0, 2, 3, 4, 5)]
    columns += [codes[ends] == ord(sign) for sign in _ENDS]
    columns += [(last >> bit) & 1 for bit in (0, 1)]
    times = Counter(texts)
    looks = (_looks(text, kind) for text, kind in zip(texts, first.tolist(), strict=True))
    columns += zip(*looks, strict=True)
    return [*columns, [min(times[text] - 1, 3) for text in texts]]


def _looks(text: str, kind: int) -> tuple[bool, ...]:
    """Return which patterns a text fits; `kind` is that of its first letter."""
    # A digit, capital or sign begins numbers of any sort.
    numbered, long = kind & 0b00110101 or not kind & 0b11, len(text) > 4
    return (
        bool(numbered and _NUMBER.fullmatch(text)),
        bool(numbered and _SECTION.match(text)),
        bool(_LIST.match(text)),
        bool(long and _LABEL.match(text)),
        long and ("…" in text or (text.count(".") > 3 and bool(_LEADER.search(text)))),
        bool(long and _REFERENCE.search(text)),
        bool(long and _CODE.search(text)),
        bool(len(text) < 20 and _FOLIO.fullmatch(text)),
    )


def _style_columns(geometry: "_Geometry") -> list[Any]:
    """Return the size and face, and how usual they are on the page."""
    bold, italic, mono = geometry.style.T
    letters = geometry.letters
    total = max(letters.sum(), 1)
    of_size = np.round(geometry.sizes * 20).astype(np.intp)
    held = np.bincount(of_size, letters)
    usual, above = (held / total)[of_size], ((held.sum() - np.cumsum(held)) / total)[of_size]
    return [
        bold, italic, mono, *(letters @ geometry.style / total),
        geometry.sizes, np.log(geometry.sizes), usual, above,
    ]  # fmt: skip


class _Geometry:
    """The places of pieces, in type sizes of the page's text."""

    def __init__(self, pieces: Sequence[Line], rows: Indexes, around: Surroundings) -> None:
        told = [(*p.box, p.size, len(p.text), p.bold, p.italic, p.mono) for p in pieces]
        table = np.fromiter(chain.from_iterable(told), np.float32).reshape(len(pieces), -1)
        boxes, (sizes, self.letters), self.style = table[:, :4], table[:, 4:6].T, table[:, 6:]
        order = np.argsort(sizes)
        middle = np.searchsorted(np.cumsum(self.letters[order]), self.letters.sum() / 2)
        self.unit = max(float(sizes[order[min(middle, len(order) - 1)]]), 1.0)
        self.left, self.top, self.right, self.bottom = boxes.T / self.unit
        self.sizes = (sizes / self.unit).clip(0.2, 8)
        self.x, self.y = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        self.rows = rows
        self.around = around
        self.width, self.height = around.width / self.unit, around.height / self.unit
        drawn = [(r.across, r.at, r.start, r.end, r.faint) for r in around.rules]
        rules = np.array(drawn, np.float32).reshape(-1, 5)
        rules[:, 1:4] /= self.unit
        self.down, self.across = (
            rules[rules[:, 0] == across, 1:][:_MOST_RULES].T for across in (0, 1)
        )
        self._place_shades()

    def _place_shades(self) -> None:
        """Find the smallest shade behind each piece: its number and colour, -1 for none."""
        self.shade, self.shade_size = np.full((2, len(self.x)), -1), np.zeros((2, len(self.x)))
        if shades := self.around.shades:
            colours = {shade.colour: number for number, shade in enumerate(shades)}
            numbers = np.array([colours[shade.colour] for shade in shades])
            inside, width, height = self._inside([shade.box for shade in shades])
            smallest = np.where(inside, width * height, np.inf).argmin(1)
            held = inside.any(1)
            self.shade[:, held] = np.stack([smallest, numbers[smallest]])[:, held]
            self.shade_size[:, held] = np.stack([width[smallest], height[smallest]])[:, held]

    def _inside(self, boxes: Sequence[Box]) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Return whether the middle of each piece is in each box, and the sizes of the boxes."""
        left, top, right, bottom = np.array(boxes, np.float32).T / self.unit
        x, y = self.x[:, None], self.y[:, None]
        inside = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
        return inside, right - left, bottom - top

    def place_columns(self) -> list[Any]:
        """Place on the page and among the other pieces; rules, shades and figures near it."""
        width, height = self.right - self.left, self.bottom - self.top
        text_left, text_right = self.left.min(), self.right.max()
        text_top, text_bottom = self.top.min(), self.bottom.max()
        text_width = max(1.0, float(text_right - text_left))
        count = len(self.x)
        in_row = np.bincount(self.rows)
        padded = np.concatenate([[0, 0], in_row, [0, 0]])
        place = np.arange(count) - np.concatenate([[0], np.cumsum(in_row)[:-1]])[self.rows]
        row_left = np.minimum.reduceat(self.left, np.flatnonzero(place == 0))
        row_right = np.maximum.reduceat(self.right, np.flatnonzero(place == 0))
        return [
            np.log1p(np.maximum(width, 0)), np.minimum(width, 60) / 20, height,
            width / self.width, width / text_width,
            self.left / self.width, self.right / self.width, self.x / self.width,
            self.top / self.height, self.y / self.height,
            *_scale_distance(np.stack([
                self.left - text_left, text_right - self.right,
                self.top - text_top, text_bottom - self.bottom,
            ])),
            (self.left - text_left) / text_width, (text_right - self.right) / text_width,
            np.abs(self.x - self.width / 2) < 0.5,
            np.abs(self.x - (text_left + text_right) / 2) < 0.5,
            *(np.minimum(padded[self.rows + step], 12) / 4 for step in range(5)),
            np.minimum(place, 8) / 4, np.minimum(in_row[self.rows] - place - 1, 8) / 4,
            (row_right - row_left)[self.rows] / text_width,
            min(self.width / 40, 3), self.width / self.height, np.log(count),
            *(np.log1p(len(rules[0])) / 3 for rules in (self.across, self.down)),
            self.around.scanned,
            *self._count_aligned(), *self._rule_columns(),
            self.shade[0] >= 0, np.minimum(self.shade_size[0] / self.width, 1),
            np.minimum(self.shade_size[1], 20) / 5, *self._figure_columns(),
        ]  # fmt: skip

    def _count_aligned(self) -> list[Floats]:
        """Return how many pieces above and below share the left, right or middle, or cross."""
        lift = np.abs(self.y[:, None] - self.y)
        near = (lift < _AROUND) & (lift > 0.3)
        edges = np.stack([self.left, self.right, self.x])
        shared = near & (np.abs(edges[:, :, None] - edges[:, None]) < _SAME_EDGE)
        over = self.left[:, None] < self.right
        return [*np.log1p(shared.sum(2)), np.log1p((near & over & over.T).sum(1))]

    def _rule_columns(self) -> list[Any]:
        """Return the distance, extent and kind of the nearest rule on each side."""
        columns: list[Any] = []
        for rules, along, low, high, extent in (
            (self.across, self.x, self.top, self.bottom, self.width),
            (self.down, self.y, self.left, self.right, self.height),
        ):
            if not rules.size:
                columns += [1, 0, 0, 1, 0, 0]
                continue
            at, start, end, faint = rules
            middle = (low + high)[:, None] / 2
            beside = (start - 0.5 <= along[:, None]) & (along[:, None] <= end + 0.5)
            for distance in (
                np.where(beside & (at <= middle), low[:, None] - at, _FAR),
                np.where(beside & (at > middle), at - high[:, None], _FAR),
            ):
                nearest, least = distance.argmin(1), distance.min(1)
                told = np.stack([(end - start)[nearest] / extent, faint[nearest]])
                columns += [_scale_distance(least), *np.where(least < _FAR, told, 0)]
        return columns

    def _figure_columns(self) -> list[Any]:
        """Return whether a piece lies in a figure, and its distance from the nearest ones."""
        boxes = [box for box in self.around.figures if min(box.width, box.height) > self.unit]
        if not boxes:
            return [0, 1, 1, 0]
        left, top, right, bottom = np.array(boxes, np.float32).T / self.unit
        x, y = self.x[:, None], self.y[:, None]
        beside = (left - 2 <= x) & (x <= right + 2)
        above = np.where(beside & (bottom <= y), y - bottom, _FAR).min(1)
        below = np.where(beside & (top >= y), top - y, _FAR).min(1)
        inside, width, height = self._inside(boxes)
        area = np.where(inside, width * height / (self.width * self.height), 0).max(1)
        return [inside.any(1), _scale_distance(above), _scale_distance(below), area]

    def neighbours(self) -> Indexes:
        """Return the nearest piece in each direction, or the count of pieces."""
        left, right, top, bottom = self.left, self.right, self.top, self.bottom
        shared_down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
        level = shared_down > 0.3 * np.minimum((bottom - top)[:, None], bottom - top)
        shared_across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
        apart = np.abs(self.x[:, None] - self.x)
        lift = np.abs(self.y[:, None] - self.y)
        ahead = (self.x[:, None] < self.x) & level
        down = (self.y[:, None] < self.y - 0.3) & (shared_across > -0.2)
        gap_across = np.maximum(left - right[:, None], 0) + 0.3 * lift
        gap_down = np.maximum(top - bottom[:, None], 0) + 0.02 * apart
        across, upright = np.where(ahead, gap_across, np.inf), np.where(down, gap_down, np.inf)
        cost = np.stack([across, across.T, upright, upright.T])
        return np.where(cost.min(2) < np.inf, cost.argmin(2), len(self.x))

    def of_pairs(self, neighbours: Indexes) -> Floats:
        """Return the features of each piece with its neighbours, zeros where it has none."""
        direction, one = np.nonzero(neighbours < len(self.x))
        two = neighbours[direction, one]
        level = np.searchsorted(direction, DIRECTIONS.index("below"))
        between = np.zeros((5, len(one)), np.float32)
        between[3:, :level] = self._count_crossings(one[:level], two[:level])
        for some, rules, place, along in (
            (slice(level), self.down, self.x, self.y),
            (slice(level, None), self.across, self.y, self.x),
        ):
            if rules.size:
                both = np.stack([one[some], two[some]])
                between[:3, some] = _rules_between(rules, place[both], along[both])
        near, far = np.stack([self.left, self.right, self.x]), np.stack([self.top, self.bottom])
        edges, others = near[:, one], near[:, two]
        low, high = np.minimum(edges, others), np.maximum(edges, others)
        shared = low[1] - high[0]
        least = np.minimum(edges[1] - edges[0], others[1] - others[0])
        ends, beyond = far[:, one], far[:, two]
        shared_down = np.minimum(ends[1], beyond[1]) - np.maximum(ends[0], beyond[0])
        offsets = others - edges
        style, other_style = self.style[one], self.style[two]
        columns = [
            1, *_scale_distance(-np.stack([shared, shared_down])), shared_down.clip(-2, 2),
            (shared / np.maximum(least, 0.1)).clip(-1, 1),
            *(offsets.clip(-5, 5) / 2), *(np.abs(offsets) < _SAME_EDGE),
            (self.y[two] - self.y[one]).clip(-4, 4), np.log(self.sizes[two] / self.sizes[one]),
            other_style[:, 0] - style[:, 0], (style == other_style).all(1),
            *between,
            *(self.shade[:, one] == self.shade[:, two]),
            (self.shade[0, one] >= 0) != (self.shade[0, two] >= 0),
        ]  # fmt: skip
        features = np.zeros((*neighbours.shape, PAIR_FEATURES), np.float32)
        features[direction, one] = _stack(columns, len(one))
        return features

    def _count_crossings(self, one: Indexes, two: Indexes) -> list[Floats]:
        """Return how many pieces above and below cross the gap between two side by side."""
        gap_left = np.minimum(self.right[one], self.right[two])[:, None]
        gap_right = np.maximum(self.left[one], self.left[two])[:, None]
        middle = (gap_left + gap_right) / 2
        crossed = (self.left < middle - 0.2) & (self.right > middle + 0.2)
        away = np.abs(self.y - self.y[one][:, None])
        return [np.log1p((crossed & (away < reach)).sum(1)) for reach in (2.5, 12)]


def _rules_between(rules: Floats, place: Floats, along: Floats) -> list[NDArray[np.bool_]]:
    """Return for each pair whether a rule lies between; a faint one; one over both."""
    at, start, end, faint = rules
    over = (start - 0.3 <= along[..., None]) & (along[..., None] <= end + 0.3)
    parts = (place.min(0)[:, None] < at) & (at < place.max(0)[:, None]) & over.any(0)
    return [parts[:, faint == 0].any(1), parts[:, faint > 0].any(1), (parts & over.all(0)).any(1)]


PAIR_FEATURES = 23


def _scale_distance(distance: Floats) -> Floats:
    """Return a distance, 0 to 1, that tells small ones apart better than large ones."""
    near: Floats = np.log1p(distance.clip(0, _FAR)) / np.log1p(_FAR)
    return near
