"""Evidence about a whole document: its running heads, headings and outline.

Taken from its first pages, whichever are requested, so that a page reads the same in every
batch.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Literal, NamedTuple

from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.lines import usual_size
from carrel.server.reading.page_model.tags import TaggedText

PAGES = 16
"""Number of first pages that stand for the whole document."""
_EDGE = 0.11
"""Height of the top and bottom bands searched for running heads, as a part of the page's."""
_SAME_PLACE = 6.0
"""Points. Position tolerance of one running head."""
_SMALLER = 0.95
"""Most size of a running head whose words vary, as a multiple of the text's."""
_OFTEN, _PAGES = 0.4, 5
"""Least part of the first pages, and fewest pages, that repeat a running head set like a title."""
_DIGITS = re.compile(r"\d+")
_COUNTER = re.compile(
    r"(?:^|(?<=[\s|(/·•–—-]))(?<!\bno\.\s)(?<!\bnr\.\s)(?<!№\s)(?<!#\s)(?<!\d[-–./])"
    r"(\d{1,5})(?=$|[\s|)/·•–—])",
    re.IGNORECASE,
)
"""A number that may be a page's: alone, not part of another, such as that of an invoice."""
_ALIKE = 0.04
"""Size tolerance within one heading level, as a part of the size."""
_NUMBERED = re.compile(r"(?:\d{1,2}|[A-Z])((?:\.\d{1,2})*)\.?\s")
"""The number of a section, and its parts after the first, if any."""

Edge = Literal["header", "footer"]


class HeadingStyle(NamedTuple):
    """The look of a heading; `depth` counts the parts of its section's number, 0 without one."""

    size: float
    bold: bool
    depth: int = 0

    @classmethod
    def of(cls, line: Line) -> "HeadingStyle":
        """Return the style of a heading's first line."""
        numbered = _NUMBERED.match(line.text)
        return cls(line.size, line.bold, 1 + numbered[1].count(".") if numbered else 0)

    def is_set_like(self, other: "HeadingStyle") -> bool:
        """Whether two headings are alike in size and weight."""
        return self.bold is other.bold and abs(self.size - other.size) <= _ALIKE * self.size


class FirstPage(NamedTuple):
    """The text of a first page: its height in points, its lines, and which are headings."""

    number: int
    height: float
    lines: Sequence[Line] = ()
    headings: Sequence[Line] = ()


@dataclass(frozen=True)
class Evidence:
    """Evidence about a document.

    `repeated` maps its running heads, by edge and folded text, to their height on the page and the
    number of pages that have them.
    `styles` are those of its headings, the most prominent first, `usual` is the size of its text;
    `outline` maps its bookmarks, by folded text, to levels. `pages` counts the pages with text
    that were looked at.
    """

    repeated: Mapping[tuple[Edge, str], tuple[float, int]] = field(default_factory=dict)
    styles: tuple[HeadingStyle, ...] = ()
    usual: float = 0.0
    outline: Mapping[str, int] = field(default_factory=dict)
    pages: int = 0

    def running_heads(self, lines: Sequence[Line], height: float) -> dict[int, bool]:
        """Return the numbers of the lines that other pages repeat at one of their edges, and
        whether so many do that a line is a running head whatever it looks like.
        """
        most = max(_PAGES, _OFTEN * self.pages)
        return {
            number: pages >= most
            for number, line in enumerate(lines)
            if (edge := edge_of(line.box, height))
            for text in _patterns(line.text)
            for at, pages in [self.repeated.get((edge, text), (-math.inf, 0))]
            if abs(at - line.box.centre[1]) < _SAME_PLACE
        }

    def is_variable(self, line: Line) -> bool:
        """Return whether a line in small type has no number but the page's: other pages may vary
        such a running head.
        """
        numbers = len(_patterns(line.text)) - 1
        return line.size < _SMALLER * self.usual and numbers == len(_DIGITS.findall(line.text))

    def with_levels(self, regions: Sequence[Region]) -> list[Region]:
        """Return a page's regions, headings with levels: by its own styles without any others."""
        own = (HeadingStyle.of(r.lines[0]) for r in regions if r.kind == "heading")
        known = self if self.styles else replace(self, styles=_rank(own))
        return [replace(r, level=known._level(r)) if r.kind == "heading" else r for r in regions]

    def _level(self, heading: Region) -> int:
        """Return the level of a heading: its bookmark's, or the place of its style among those of
        headings; between two, the lower one's.

        Sections with numbers of as many parts, two at least, are of one level however they are set.
        """
        if bookmarked := self.outline.get(_fold(heading.text)):
            return bookmarked
        style = HeadingStyle.of(heading.lines[0])
        for level, known in enumerate(self.styles, 1):
            if style.depth > 1:
                alike = known.depth == style.depth
            else:
                alike = known.is_set_like(style) and known.depth <= (style.depth or known.depth)
            if alike:
                return level
        return 1 + sum(
            known.size > (1 + _ALIKE) * style.size
            or (known.is_set_like(style) and known.depth < style.depth)
            for known in self.styles
        )


def with_told_levels(regions: list[Region], tagged: Iterable[TaggedText]) -> list[Region]:
    """Return a page's regions with the heading levels that its file tells.

    One larger heading whose level is no higher than a smaller one's disproves them all.
    """
    told = {
        number: tag.level
        for box, tag in tagged
        for number, region in enumerate(regions)
        if tag.level and region.kind == "heading" and region.box.holds_centre(box)
    }
    looks = [(regions[number].lines[0].size, level) for number, level in told.items()]
    for (size, level), (other, lower) in permutations(looks, 2):
        if size > (1 + _ALIKE) * other and level >= lower:
            return regions
    return [replace(r, level=told[n]) if n in told else r for n, r in enumerate(regions)]


def evidence_of(pages: Sequence[FirstPage], outline: Iterable[tuple[str, int]] = ()) -> Evidence:
    """Collect evidence from first pages; `outline` are the bookmarks with their levels."""
    return Evidence(
        _repeated(pages),
        _rank(HeadingStyle.of(line) for page in pages for line in page.headings),
        usual_size(line for page in pages for line in page.lines),
        {_fold(title): level for title, level in outline},
        sum(bool(page.lines) for page in pages),
    )


def _repeated(pages: Sequence[FirstPage]) -> dict[tuple[Edge, str], tuple[float, int]]:
    """Return the heights and numbers of texts that repeat at the edges of pages."""
    seen: dict[tuple[Edge, str, int | None], list[float]] = {}
    for page in pages:
        for line in page.lines:
            if edge := edge_of(line.box, page.height):
                for text, number in _patterns(line.text).items():
                    # Of all numbers, only a page's grows with the page.
                    offset = None if number is None else number - page.number
                    seen.setdefault((edge, text, offset), []).append(line.box.centre[1])
    return {
        (edge, text): (sum(at) / len(at), len(at))
        for (edge, text, _), at in seen.items()
        if len(at) > 1 and max(at) - min(at) < _SAME_PLACE
    }


def edge_of(box: Box, height: float, band: float = _EDGE) -> Edge | None:
    """Return the edge of the page that a box stands at, if any."""
    if box.bottom < band * height:
        return "header"
    return "footer" if box.top > (1 - band) * height else None


def _patterns(text: str) -> dict[str, int | None]:
    """Return the folded text, and variants with `#` for a number that may be the page's."""
    found: dict[str, int | None] = {_fold(text): None}
    for match in _COUNTER.finditer(text):
        pattern = f"{_fold(text[: match.start(1)])}#{_fold(text[match.end(1) :])}"
        found[pattern] = int(match[1])
    return found


def _fold(text: str) -> str:
    """Return the text without spaces and case."""
    return "".join(text.split()).casefold()


def _rank(styles: Iterable[HeadingStyle]) -> tuple[HeadingStyle, ...]:
    """Return the styles of headings, the most prominent first; similar sizes are one."""
    depths: dict[HeadingStyle, set[int]] = {}
    numbered: set[int] = set()
    for style in sorted(set(styles), key=lambda style: (-style.size, not style.bold, style.depth)):
        if style.depth not in numbered:
            alike = next((known for known in depths if known.is_set_like(style)), style)
            depths.setdefault(alike, set()).add(style.depth)
            numbered |= {style.depth} - {0, 1}
    # Without a number, a heading is of the level of the first that are set like it.
    return tuple(
        style._replace(depth=depth)
        for style, found in depths.items()
        for depth in sorted(found - {0}) or found
    )
