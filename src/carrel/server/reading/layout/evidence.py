"""Evidence about a whole document: its running heads, headings and outline.

Taken from its first pages, whichever are requested, so that a page reads the same in every
batch.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from carrel.server.reading.layout.paragraphs import LABELLED
from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.lines import text_lines
from carrel.server.reading.page.parsed import ParsedPage

PAGES = 16
"""Number of first pages that stand for the whole document."""

_EDGE = 0.11
"""Height of the top and bottom bands searched for running heads, as a part of the page's."""
_NEXT = 0.2
"""Height of the bands searched for the text next to a running head, as a part of the page's."""
_SAME_PLACE = 6.0
"""Points. Position tolerance of one running head."""
_ROW = 0.5
"""Lines are side by side if their middles differ by less than this part of their height."""
_APART = 1.5
"""Least white space around a running head, as a part of its height."""
_LARGER = 1.12
"""Least size of a line that stands out, as a multiple of the text's."""
_ALIKE = 0.04
"""Size tolerance within one heading level, as a part of the size."""
_SHORT = 100
"""Maximum letters of a heading."""

Edge = Literal["header", "footer"]


@dataclass(frozen=True)
class Evidence:
    """Evidence about a document.

    `repeated` maps its running heads, by edge and folded text, to their height on the page;
    `places` are the positions of running heads whose text changes. `sizes` are the sizes of its
    headings, largest first, and whether they are bold; `outline` maps its bookmarks, by folded
    text, to levels.
    """

    repeated: Mapping[tuple[Edge, str], float] = field(default_factory=dict)
    places: frozenset[tuple[Edge, int]] = frozenset()
    sizes: tuple[tuple[float, bool], ...] = ()
    outline: Mapping[str, int] = field(default_factory=dict)

    def running_heads(self, lines: Sequence[Line], height: float) -> dict[int, Edge]:
        """The edge of each running head on a page, by line number."""
        found: dict[int, Edge] = {}
        if not self.repeated and not self.places:
            return found
        rows = list(_edge_rows(lines, height))
        heads = [number for number, row in enumerate(rows) if self._is_running_head(lines, *row)]
        for number, (row, edge, _) in enumerate(rows):
            # Anything between a running head and the page's edge is one, too.
            outer = range(number, len(rows)) if edge == "header" else range(number + 1)
            if any(head in outer and rows[head][1] == edge for head in heads):
                found |= dict.fromkeys(row, edge)
        return found

    def _is_running_head(
        self, lines: Sequence[Line], row: Sequence[int], edge: Edge, alone: bool
    ) -> bool:
        middle = lines[row[0]].box.centre[1]
        at = self.repeated.get((edge, _folded(" ".join(lines[number].text for number in row))))
        same = at is not None and abs(at - middle) < _SAME_PLACE
        return same or (alone and bool(_place(edge, middle) & self.places))

    def levelled(self, region: Region) -> Region:
        """A heading with its level in the document."""
        if region.kind != "heading" or not region.lines:
            return region
        level = self.outline.get(_folded(region.text)) or self._level(region.lines[0])
        return replace(region, level=level) if level else region

    def _level(self, line: Line) -> int:
        for level, (size, bold) in enumerate(self.sizes, 1):
            if bold is line.bold and abs(size - line.size) <= _ALIKE * size:
                return level
        return 0


def evidence_of(pages: Iterable[ParsedPage], outline: Iterable[tuple[str, int]] = ()) -> Evidence:
    """Collects evidence from first pages; `outline` are the bookmarks with their levels."""
    repeated: dict[tuple[Edge, str], list[float]] = {}
    places: Counter[tuple[Edge, int]] = Counter()
    texts: list[list[Line]] = []
    for page in pages:
        lines = [line for line, angle in text_lines(page.items) if not angle]
        texts.append(lines)
        for row, edge, alone in _edge_rows(lines, page.height):
            text = _folded(" ".join(lines[number].text for number in row))
            middle = lines[row[0]].box.centre[1]
            repeated.setdefault((edge, text), []).append(middle)
            if alone and page.height > page.width:
                places.update(_place(edge, middle))
    heads = {key: sum(at) / len(at) for key, at in repeated.items() if _is_repeated(at)}
    running = {text for _, text in heads}
    letters: Counter[float] = Counter()
    styles: set[tuple[float, bool]] = set()
    for lines in texts:
        for line in lines:
            letters[line.size] += len(line.text)
        styles |= {
            (size, bold)
            for text, size, bold in _standing_out(lines)
            if _folded(text) not in running
        }
    usual = max(letters, key=lambda size: letters[size], default=0.0)
    return Evidence(
        heads,
        frozenset(place for place, count in places.items() if count > 1),
        _levels(styles, usual),
        {_folded(title): level for title, level in outline},
    )


def _is_repeated(places: Sequence[float]) -> bool:
    return len(places) > 1 and max(places) - min(places) < _SAME_PLACE


def _place(edge: Edge, middle: float) -> set[tuple[Edge, int]]:
    """A height in steps, and the next step, so that nearby places share one."""
    step = int(middle / _SAME_PLACE)
    return {(edge, step), (edge, step + 1)}


def _rows(lines: Sequence[Line]) -> list[list[int]]:
    """Line numbers grouped into rows, from top to bottom."""
    rows: list[list[int]] = []
    for number in sorted(range(len(lines)), key=lambda number: lines[number].box.centre[1]):
        box = lines[number].box
        above = lines[rows[-1][0]].box if rows else None
        if above and box.centre[1] - above.centre[1] < _ROW * min(box.height, above.height):
            rows[-1].append(number)
        else:
            rows.append([number])
    for row in rows:
        row.sort(key=lambda number: lines[number].box.left)
    return rows


def _edge_rows(lines: Sequence[Line], height: float) -> Iterator[tuple[list[int], Edge, bool]]:
    """The rows at the edges of a page, and whether white space separates them from the rest.

    A row is its line numbers, from left to right.
    """
    near = [
        number
        for number, line in enumerate(lines)
        if line.box.bottom < _NEXT * height or line.box.top > (1 - _NEXT) * height
    ]
    rows = [[near[n] for n in row] for row in _rows([lines[number] for number in near])]
    boxes = [Box.around(lines[number].box for number in row) for row in rows]
    # A line of dashes below a running head does not separate it from the text.
    said = [
        order
        for order, row in enumerate(rows)
        if any(map(str.isalnum, "".join(lines[number].text for number in row)))
    ]
    for order, (row, box) in enumerate(zip(rows, boxes, strict=True)):
        if box.bottom < _EDGE * height:
            below = next((boxes[n].top for n in said if n > order), 2 * height)
            alone = order in said[:1] and below - box.bottom > _APART * box.height
            yield row, "header", alone
        elif box.top > (1 - _EDGE) * height:
            above = next((boxes[n].bottom for n in reversed(said) if n < order), -height)
            alone = order in said[-1:] and box.top - above > _APART * box.height
            yield row, "footer", alone


def _folded(text: str) -> str:
    """The text without spaces and case, with `#` for every number."""
    return re.sub(r"\d+", "#", "".join(text.split()).casefold())


def _standing_out(lines: Sequence[Line]) -> Iterator[tuple[str, float, bool]]:
    """Heading candidates by appearance: text, size and weight."""
    for row in _rows(lines):
        pieces = [lines[number] for number in row]
        for number, line in enumerate(pieces):
            beside = pieces[max(0, number - 1) : number + 2]
            inside = any(other.bold is not line.bold and _near(other, line) for other in beside)
            words = len(line.text) <= _SHORT and any(map(str.isalpha, line.text))
            if words and not inside and not LABELLED.match(line.text):
                yield line.text, line.size, line.bold


def _near(one: Line, other: Line) -> bool:
    """Whether two lines at one height are pieces of one."""
    gap = max(one.box.left - other.box.right, other.box.left - one.box.right)
    return gap < one.box.height


def _levels(styles: Iterable[tuple[float, bool]], usual: float) -> tuple[tuple[float, bool], ...]:
    """Heading styles, the most prominent first; similar sizes are merged."""
    found: list[tuple[float, bool]] = []
    for size, bold in sorted(styles, reverse=True):
        if size < (1 - _ALIKE) * usual or not (bold or size >= _LARGER * usual):
            continue
        if not any(b is bold and abs(s - size) <= _ALIKE * s for s, b in found):
            found.append((size, bold))
    return tuple(found)
