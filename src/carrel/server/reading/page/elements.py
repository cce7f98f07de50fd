"""The parts of a page: words, lines and regions, in points from the top left corner."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from carrel.server.reading.page.table import LinkMark, MarkedText, Table

T = TypeVar("T")

Kind = Literal[
    "heading",
    "paragraph",
    "list_item",
    "code",
    "table",
    "figure",
    "caption",
    "note",
    "header",
    "footer",
    "aside",
]


_FLUSH = 0.1
"""Largest difference of the left edges of lines of one text, as a part of their height."""


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """In points."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """In points."""
        return self.bottom - self.top

    def holds_centre(self, other: "Box") -> bool:
        """Return whether the middle of another box lies in this one or on its edge."""
        left, top, right, bottom = other
        return (
            2 * self.left <= left + right <= 2 * self.right
            and 2 * self.top <= top + bottom <= 2 * self.bottom
        )

    def contains(self, other: "Box", beyond: float) -> bool:
        """Return whether another box lies in this one; its sides may reach `beyond` points out."""
        left, top, right, bottom = self
        across = left - beyond <= other.left and other.right <= right + beyond
        return across and top - beyond <= other.top and other.bottom <= bottom + beyond

    def meets(self, other: "Box") -> bool:
        """Return whether this box and another overlap."""
        return self.shared_width(other) > 0 and self.shared_height(other) > 0

    def shared_width(self, other: "Box") -> float:
        """Return how much of the page's width both cover; the gap between them if negative."""
        return min(self.right, other.right) - max(self.left, other.left)

    def shared_height(self, other: "Box") -> float:
        """Return how much of the page's height both cover; the gap between them if negative."""
        return min(self.bottom, other.bottom) - max(self.top, other.top)

    def is_near(self, other: "Box", reach: float) -> bool:
        """Return whether another box is no farther away than `reach`."""
        across = self.right - other.left >= -reach and other.right - self.left >= -reach
        return across and self.bottom - other.top >= -reach and other.bottom - self.top >= -reach

    def is_flush(self, other: "Box") -> bool:
        """Return whether another box begins at the same edge."""
        return abs(self.left - other.left) < _FLUSH * self.height

    @property
    def area(self) -> float:
        """Its area in square points."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """The point in the middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def mirrored(self, width: float) -> "Box":
        """Return the box mirrored on a page of this width."""
        return Box(width - self.right, self.top, width - self.left, self.bottom)

    @classmethod
    def of(cls, place: Any) -> "Box":
        """Return the box of anything with `x`, `y`, `width` and `height`."""
        return cls(place.x, place.y, place.x + place.width, place.y + place.height)

    @classmethod
    def around(cls, boxes: Iterable["Box"]) -> "Box":
        """Return the bounding box of at least one box."""
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return cls(min(lefts), min(tops), max(rights), max(bottoms))


def group_connected(things: Iterable[T], belong: Callable[[T, T], bool]) -> list[list[T]]:
    """Group things that belong together, directly or by way of others."""
    groups: list[list[T]] = []
    for thing in things:
        near = [group for group in groups if any(belong(thing, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([thing, *(other for group in near for other in group)])
    return groups


def split_when(things: Iterable[T], are_apart: Callable[[T, T], bool]) -> list[list[T]]:
    """Split a row of things between neighbours that are apart."""
    parts: list[list[T]] = []
    for thing in things:
        if not parts or are_apart(parts[-1][-1], thing):
            parts.append([])
        parts[-1].append(thing)
    return parts


def join_boxes(boxes: Iterable[Box], are_one: Callable[[Box, Box], bool]) -> list[Box]:
    """Join the boxes that are one, directly or by way of others."""
    found: list[Box] = []
    for box in boxes:
        while joined := [other for other in found if are_one(other, box)]:
            found = [other for other in found if other not in joined]
            box = Box.around([box, *joined])
        found.append(box)
    return found


class Word(NamedTuple):
    """A word, its confidence (0 to 1), and its left and right edges, if known."""

    text: str
    confidence: float = 1.0
    edges: tuple[float, float] | None = None


class Line(NamedTuple):
    """A run of words on one baseline. `size` is the font size in points.

    `read` are its words as OCR read them; empty for a text layer, which is certain.
    """

    text: str
    box: Box
    size: float
    read: tuple[Word, ...] = ()
    bold: bool = False
    mono: bool = False
    marks: tuple[LinkMark, ...] = ()
    italic: bool = False
    run_in: bool = False
    """Whether it begins in bold type and goes on in plain: its heading is a part of the text."""

    @property
    def words(self) -> tuple[Word, ...]:
        """The words; with confidence 1 where OCR did not read the line."""
        return self.read or tuple(map(Word, self.text.split()))

    @property
    def marked(self) -> MarkedText:
        """The text with its marks."""
        return MarkedText(self.text, self.marks)

    def followed_by(self, other: "Line", between: str) -> "Line":
        """Return both as one; the longer says how it is set."""
        longer = self if len(self.text) >= len(other.text) else other
        text, marks = f"{self.text}{between}{other.text}", self.marks
        if self.marks or other.marks or not (self.text and other.text):
            text, marks = self.marked.followed_by(other.marked, between)
        box = Box.around([self.box, other.box])
        if other.size < longer.size or self.size < longer.size:
            # A raised mark does not make its line taller.
            box = Box(box.left, longer.box.top, box.right, longer.box.bottom)
        read = (*self.words, *other.words) if self.read or other.read else ()
        italic, run_in = self.italic and other.italic, self.run_in or (self.bold and not other.bold)
        set_as = (self.bold and other.bold, longer.mono, marks, italic, run_in)
        return Line(text, box, longer.size, read, *set_as)

    def mirrored(self, width: float) -> "Line":
        """Return the line mirrored on a page of this width."""
        return self._replace(box=self.box.mirrored(width))

    def moved(self, by: float, box: Box) -> "Line":
        """Return the line in another box, its words moved right by `by` points."""
        read = tuple(
            word._replace(edges=(word.edges[0] + by, word.edges[1] + by)) if word.edges else word
            for word in self.read
        )
        return self._replace(box=box, read=read)


@dataclass(frozen=True)
class Region:
    """A block of a page.

    `level` applies to headings and lists, `table` to tables; `labels` are the words in a figure.
    `order` is how likely it follows the right region, `structure` how likely neighbouring cells of
    its table are neighbours, both from 0 to 1.
    """

    kind: Kind
    box: Box
    text: str = ""
    level: int = 0
    marker: str = ""
    table: Table | None = None
    lines: tuple[Line, ...] = ()
    labels: tuple[Line, ...] = ()
    order: float | None = None
    structure: float | None = None

    def mirrored(self, width: float) -> "Region":
        """Return the region mirrored on a page of this width."""
        lines = tuple(line.mirrored(width) for line in self.lines)
        labels = tuple(label.mirrored(width) for label in self.labels)
        return replace(self, box=self.box.mirrored(width), lines=lines, labels=labels)


@dataclass(frozen=True)
class PageFrame:
    """Maps the upright layout to the page: the page's size, quarter turn and skew.

    `turn` is the clockwise rotation of the content (0, 90, 180, 270 degrees), `skew` a few more
    degrees on top of it.
    """

    width: float
    height: float
    turn: int = 0
    skew: float = 0.0

    @property
    def upright_size(self) -> tuple[float, float]:
        """Width and height of the upright layout, in points."""
        return (self.height, self.width) if self.turn in (90, 270) else (self.width, self.height)

    def straightened(self, x: float, y: float) -> tuple[float, float]:
        """Map a point of the upright but skewed picture to the layout."""
        return self._rotate(x, y, -self.skew)

    def on_page(self, box: Box) -> Box:
        """Return the bounding box on the page of a box of the layout."""
        if not self.turn and not self.skew:
            return box
        corners = [
            self._turn(*self._rotate(x, y, self.skew))
            for x in (box.left, box.right)
            for y in (box.top, box.bottom)
        ]
        xs, ys = zip(*corners, strict=True)
        return Box(min(xs), min(ys), max(xs), max(ys))

    def _rotate(self, x: float, y: float, degrees: float) -> tuple[float, float]:
        if not degrees:
            return x, y
        width, height = self.upright_size
        angle = math.radians(degrees)
        dx, dy = x - width / 2, y - height / 2
        return (
            width / 2 + dx * math.cos(angle) - dy * math.sin(angle),
            height / 2 + dx * math.sin(angle) + dy * math.cos(angle),
        )

    def _turn(self, x: float, y: float) -> tuple[float, float]:
        wide, high = self.width, self.height
        turned = {0: (x, y), 90: (wide - y, x), 180: (wide - x, high - y), 270: (y, high - x)}
        return turned[self.turn]


@dataclass(frozen=True)
class PageLayout:
    """A page's layout, with regions in reading order."""

    frame: PageFrame
    regions: list[Region]
    hyperlinks: list[str] = field(default_factory=list)
