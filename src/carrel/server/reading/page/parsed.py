"""A PDF page as parsed: pieces of text, links, rules and drawings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule, Shade


@dataclass(slots=True)
class PlacedWord:
    """A word and its place, as liteparse's words have them."""

    text: str
    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class TextItem:
    """A piece of a line in one font, with its words.

    Positions are in points from the top left corner of the page, `rotation` in degrees
    clockwise. `font` is empty and `size` is 0 where the PDF does not say. `run_in`: it begins in
    bold type and ends in plain.
    """

    text: str
    x: float
    y: float
    width: float
    height: float
    rotation: float
    font: str
    size: float
    words: Sequence[PlacedWord]
    run_in: bool = False

    @property
    def box(self) -> Box:
        """Its bounding box on the page."""
        return Box(self.x, self.y, self.x + self.width, self.y + self.height)

    @property
    def angle(self) -> float:
        """Its clockwise angle, from -180 to 180 degrees."""
        return (self.rotation + 180) % 360 - 180


class Link(NamedTuple):
    """A link's clickable area and address."""

    box: Box
    url: str


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page's text, links, rules, shades and drawings, and how complete its text layer is.

    `items` is empty where the text layer cannot be trusted; `comments` are those of readers.
    `needs_ocr`: something is drawn without text for it. `drawn`: outlines may hold more text.
    `unread` are the lines in fonts without letters.
    """

    index: int
    size: tuple[float, float]
    """Width and height, in points."""
    items: list[TextItem] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    comments: list[Line] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    shades: list[Shade] = field(default_factory=list)
    drawings: list[Box] = field(default_factory=list)
    trusted: bool = True
    needs_ocr: bool = False
    drawn: bool = False
    unread: list[Box] = field(default_factory=list)
