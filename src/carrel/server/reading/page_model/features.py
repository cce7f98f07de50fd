"""Features of pieces and of pairs of neighbours: what the page model looks at.

Lengths are in type sizes of the page's text, so that small and large print look alike.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, starmap
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
# A search is fast where each alternative begins with a sign of its own, and a rare one.
_REFERENCE = re.compile(
    r"\[\w{1,12}\]|19\d\d[a-z]?\)?[.,;:)]|20\d\d[a-z]?\)?[.,;:)]|d(?<=\bd)oi\b|l(?<=et al)"
    r"|\.(?<=p\.) ?\d|:(?<=http:)|:(?<=https:)|\.(?<=www\.)"
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


def page_features(
    pages: Sequence[tuple[Sequence[Sequence[Line]], Surroundings]],
) -> list[PageFeatures]:
    """Return the features of several pages, each with at least one piece of text in its rows."""
    rows = [row for page, _ in pages for row in page]
    pieces = [piece for row in rows for piece in row]
    row_of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    page_of = np.repeat(np.arange(len(pages)), [len(page) for page, _ in pages])[row_of]
    places = _Places(pieces, row_of, page_of, [around for _, around in pages])
    texts = _text_columns([piece.text or " " for piece in pieces], page_of)
    own = _stack([*texts, *places.style_columns(), *places.place_columns()], len(pieces))
    pairs = places.of_pairs()
    return [
        PageFeatures(own[part], page.nearest, pairs[:, part], row_of[part] - row_of[part.start])
        for page, part in zip(places.pages, places.parts, strict=True)
    ]


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


def _text_columns(texts: Sequence[str], pages: Indexes) -> list[Floats]:
    """Return the shares of kinds of letters, the first and last letter, and a text's looks.

    `pages` are the numbers of their pages.
    """
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
    on_page = list(zip(pages.tolist(), texts, strict=True))
    times = Counter(on_page)
    looks = (_looks(text, kind) for text, kind in zip(texts, first.tolist(), strict=True))
    columns += zip(*looks, strict=True)
    return [*columns, [min(times[text] - 1, 3) for text in on_page]]


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


class _Page:
    """What is near each piece of a page, in type sizes of its text."""

    def __init__(self, table: Floats, around: Surroundings) -> None:
        """`table` has the box, the size and the count of letters of each piece."""
        sizes, letters = table[:, 4:6].T
        order = np.argsort(sizes)
        middle = np.searchsorted(np.cumsum(letters[order]), letters.sum() / 2)
        self.unit = max(float(sizes[order[min(middle, len(order) - 1)]]), 1.0)
        self.edges, self.sizes = table[:, :4].T / self.unit, (sizes / self.unit).clip(0.2, 8)
        self.left, self.top, self.right, self.bottom = self.edges
        self.x, self.y = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        self.around = around
        self.width, self.height = around.width / self.unit, around.height / self.unit
        rules = np.array(around.rules, np.float32).reshape(-1, 5)
        rules[:, 1:4] /= self.unit
        self.down, self.across = (rules[rules[:, 0] == way, 1:][:_MOST_RULES].T for way in (0, 1))
        counts = (len(self.x), self.across.shape[1], self.down.shape[1])
        self.extent = (self.width, self.height, *counts, around.scanned)
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
        left, top, right, bottom = np.array(boxes, np.float32).reshape(-1, 4).T / self.unit
        x, y = self.x[:, None], self.y[:, None]
        inside = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
        return inside, right - left, bottom - top

    def columns(self) -> list[Any]:
        """Return what stands near each piece: other pieces, rules, a shade and figures."""
        width, height = self.shade_size
        return [
            *self._count_aligned(), *self._rule_columns(), self.shade[0] >= 0,
            np.minimum(width / self.width, 1), np.minimum(height, 20) / 5,
            *self._figure_columns(),
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
        left, top, right, bottom = np.array(boxes, np.float32).reshape(-1, 4).T / self.unit
        x, y = self.x[:, None], self.y[:, None]
        beside = (left - 2 <= x) & (x <= right + 2)
        above = np.where(beside & (bottom <= y), y - bottom, _FAR).min(1, initial=_FAR)
        below = np.where(beside & (top >= y), top - y, _FAR).min(1, initial=_FAR)
        inside, width, height = self._inside(boxes)
        area = np.where(inside, width * height / (self.width * self.height), 0).max(1, initial=0)
        return [inside.any(1), _scale_distance(above), _scale_distance(below), area]

    @cached_property
    def nearest(self) -> Indexes:
        """The nearest piece in each direction, or the count of pieces."""
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

    def between(self) -> Floats:
        """Return what lies between each piece and its neighbours: rules, pieces that cross."""
        found = np.zeros((5, *self.nearest.shape), np.float32)
        direction, one = np.nonzero(self.nearest < len(self.x))
        both = np.stack([one, self.nearest[direction, one]])
        level = np.searchsorted(direction, DIRECTIONS.index("below"))
        for some, rules, place, along in (
            (slice(level), self.down, self.x, self.y),
            (slice(level, None), self.across, self.y, self.x),
        ):
            if rules.size:
                said = _rules_between(rules, place[both[:, some]], along[both[:, some]])
                found[:3, direction[some], one[some]] = said
        one, two = both[:, :level]
        gap_left = np.minimum(self.right[one], self.right[two])[:, None]
        gap_right = np.maximum(self.left[one], self.left[two])[:, None]
        middle = (gap_left + gap_right) / 2
        crossed = (self.left < middle - 0.2) & (self.right > middle + 0.2)
        away = np.abs(self.y - self.y[one][:, None])
        crossings = [np.log1p((crossed & (away < reach)).sum(1)) for reach in (2.5, 12)]
        found[3:, direction[:level], one] = crossings
        return found


def _rules_between(rules: Floats, place: Floats, along: Floats) -> list[NDArray[np.bool_]]:
    """Return for each pair whether a rule lies between; a faint one; one over both."""
    at, start, end, faint = rules
    over = (start - 0.3 <= along[..., None]) & (along[..., None] <= end + 0.3)
    parts = (place.min(0)[:, None] < at) & (at < place.max(0)[:, None]) & over.any(0)
    return [parts[:, faint == 0].any(1), parts[:, faint > 0].any(1), (parts & over.all(0)).any(1)]


class _Places:
    """The places of the pieces of some pages, in type sizes of each page's text."""

    def __init__(
        self, pieces: Sequence[Line], rows: Indexes, page: Indexes, around: Sequence[Surroundings]
    ) -> None:
        """`rows` and `page` are the numbers of each piece's row and page."""
        told = [(*p.box, p.size, len(p.text), p.bold, p.italic, p.mono) for p in pieces]
        table = np.fromiter(chain.from_iterable(told), np.float32).reshape(len(pieces), -1)
        self.rows, self.page = rows, page
        self.starts = np.flatnonzero(np.diff(page, prepend=-1))
        self.parts = list(starmap(slice, pairwise([*self.starts.tolist(), len(page)])))
        self.pages = list(map(_Page, (table[part] for part in self.parts), around))
        self.letters, self.style = table[:, 5], table[:, 6:]
        self.edges = np.concatenate([each.edges for each in self.pages], 1)
        self.sizes = np.concatenate([each.sizes for each in self.pages])
        # The left and right edges and the middle; then the top and bottom ones and the middle.
        (left, top), (right, bottom) = self.edges[:2], self.edges[2:]
        self.across = np.stack([left, right, (left + right) / 2])
        self.down = np.stack([top, bottom, (top + bottom) / 2])

    def style_columns(self) -> list[Any]:
        """Return the size and face, and how usual they are on the page."""
        weighed = np.column_stack([self.letters, self.letters[:, None] * self.style])
        total, *styles = np.add.reduceat(weighed, self.starts)[self.page].T
        total = np.maximum(total, 1)
        of_size = np.round(self.sizes * 20).astype(np.intp)
        table = np.zeros((len(self.pages), of_size.max() + 1))
        np.add.at(table, (self.page, of_size), self.letters)
        usual, most = table[self.page, of_size], np.cumsum(table, 1)[self.page, of_size]
        return [
            *self.style.T, *(styles / total),
            self.sizes, np.log(self.sizes), usual / total, 1 - most / total,
        ]  # fmt: skip

    def place_columns(self) -> list[Any]:
        """Place on the page and among the other pieces; rules, shades and figures near it."""
        rows, page = self.rows, self.page
        (left, right, x), (top, bottom, y) = self.across, self.down
        low, high = self.edges[:2], self.edges[2:]
        first = np.minimum.reduceat(low, self.starts, axis=1)[:, page]
        last = np.maximum.reduceat(high, self.starts, axis=1)[:, page]
        text_width = np.maximum(1, last[0] - first[0])
        away = np.concatenate([low - first, last - high])[[0, 2, 1, 3]]
        of_page = np.array([each.extent for each in self.pages], np.float32).T[:, page]
        page_width, page_height, count, across, down, scanned = of_page
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        in_row, place = np.bincount(rows), np.arange(len(rows)) - begins[rows]
        row_width = np.maximum.reduceat(right, begins) - np.minimum.reduceat(left, begins)
        # Two rows of none part the pages.
        apart = np.arange(len(begins)) + 2 * page[begins] + 2
        padded = np.zeros(apart[-1] + 3)
        padded[apart] = np.minimum(in_row, 12) / 4
        return [
            np.log1p(np.maximum(right - left, 0)), np.minimum(right - left, 60) / 20, bottom - top,
            (right - left) / page_width, (right - left) / text_width,
            *(self.across / page_width), top / page_height, y / page_height,
            *_scale_distance(away), *(away[:2] / text_width),
            np.abs(x - page_width / 2) < 0.5, np.abs(x - (first[0] + last[0]) / 2) < 0.5,
            *padded[apart[rows] + np.arange(-2, 3)[:, None]],
            np.minimum(place, 8) / 4, np.minimum(in_row[rows] - place - 1, 8) / 4,
            row_width[rows] / text_width,
            np.minimum(page_width / 40, 3), page_width / page_height, np.log(count),
            np.log1p(across) / 3, np.log1p(down) / 3, scanned,
            *np.concatenate([_stack(each.columns(), len(each.x)).T for each in self.pages], 1),
        ]  # fmt: skip

    def of_pairs(self) -> Floats:
        """Return the features of each piece with its neighbours, zeros where it has none."""
        count = len(self.page)
        starts = zip(self.pages, self.starts, strict=True)
        nearest = [np.where(p.nearest < len(p.x), p.nearest + at, count) for p, at in starts]
        neighbours = np.concatenate(nearest, 1)
        direction, one = np.nonzero(neighbours < count)
        two = neighbours[direction, one]
        edges, others = self.across[:, one], self.across[:, two]
        shared = np.minimum(edges[1], others[1]) - np.maximum(edges[0], others[0])
        least = np.minimum(edges[1] - edges[0], others[1] - others[0])
        ends, beyond = self.down[:, one], self.down[:, two]
        shared_down = np.minimum(ends[1], beyond[1]) - np.maximum(ends[0], beyond[0])
        offsets = others - edges
        style, other_style = self.style[one], self.style[two]
        shades = np.concatenate([each.shade for each in self.pages], 1)
        shade, other_shade = shades[:, one], shades[:, two]
        columns = [
            1, *_scale_distance(-np.stack([shared, shared_down])), shared_down.clip(-2, 2),
            (shared / np.maximum(least, 0.1)).clip(-1, 1),
            *(offsets.clip(-5, 5) / 2), *(np.abs(offsets) < _SAME_EDGE),
            (beyond[2] - ends[2]).clip(-4, 4), np.log(self.sizes[two] / self.sizes[one]),
            other_style[:, 0] - style[:, 0], (style == other_style).all(1),
            *np.concatenate([each.between() for each in self.pages], 2)[:, direction, one],
            *(shade == other_shade), (shade[0] >= 0) != (other_shade[0] >= 0),
        ]  # fmt: skip
        features = np.zeros((*neighbours.shape, PAIR_FEATURES), np.float32)
        features[direction, one] = _stack(columns, len(one))
        return features


PAIR_FEATURES = 23


def _scale_distance(distance: Floats) -> Floats:
    """Return a distance, 0 to 1, that tells small ones apart better than large ones."""
    near: Floats = np.log1p(distance.clip(0, _FAR)) / np.log1p(_FAR)
    return near
