"""Assembles a page's text, rules and pictures into regions in reading order."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrel.server.reading.layout.contents import contents
from carrel.server.reading.layout.diagrams import diagrams
from carrel.server.reading.layout.evidence import Edge, Evidence
from carrel.server.reading.layout.figure_places import (
    FigurePlace,
    are_doubtful,
    outside_tables,
    whole_figures,
)
from carrel.server.reading.layout.figures import (
    captioned,
    labelled,
    pictures,
    with_text,
)
from carrel.server.reading.layout.flow import columns, rows
from carrel.server.reading.layout.hyphens import join_lines
from carrel.server.reading.layout.notes import with_notes
from carrel.server.reading.layout.order import with_order
from carrel.server.reading.layout.paragraphs import Style, regions
from carrel.server.reading.layout.region_kinds import with_seen_kinds, with_text_even
from carrel.server.reading.page.elements import (
    Box,
    Kind,
    Line,
    PageFrame,
    PageLayout,
    Region,
)
from carrel.server.reading.page.justified import with_whole_lines
from carrel.server.reading.page.lines import one_line, runs_from_right, text_lines
from carrel.server.reading.page.parsed import Link, TextItem
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.seen import Regions, Structure, no_regions, no_structure
from carrel.server.reading.tables.chunks import Chunk, chunks_of_items, chunks_of_lines
from carrel.server.reading.tables.find import find_tables, ruled_tables

_BAND = 0.09
"""Height of the top and bottom bands with running heads, as a part of the page's."""
_NUMBER_BAND = 0.13
"""Height of those with page numbers that stand alone, which TeX sets farther in."""
_PAGE_NUMBER = re.compile(r"[-–— ]*(\d{1,4}|[ivxlc]{1,7})[-–— ]*")
_PORTRAIT = 1.2
"""Least height-to-width ratio of a page with running heads: maps and slides have none."""
NO_EVIDENCE = Evidence()
_UPRIGHT = 20.0
"""Degrees. Text at a greater angle is not part of the flow."""


class _Solid(NamedTuple):
    """A table or figure placed among the lines; `box` also holds its own lines."""

    box: Box
    region: Region

    def mirrored(self, width: float) -> "_Solid":
        return _Solid(self.box.mirrored(width), self.region.mirrored(width))


_Part = Line | _Solid


@dataclass(frozen=True)
class PageParts:
    """Everything found on a page, in points of its upright layout.

    `items` is liteparse's text layer, with word boxes; `lines` is text found in another way, by
    OCR if needed, and `slanted` the part of it at an angle. `rules` may frame tables. `figures` are
    pictures, `drawings` are charts and diagrams drawn with vector graphics, `sketches` line
    drawings in a scan, which are figures where the layout model sees one. `regions` asks the
    layout model for the page's regions, `structure` the table model for the cells in a box.
    """

    items: Sequence[TextItem] = ()
    lines: Sequence[Line] = ()
    slanted: Sequence[Line] = ()
    links: Sequence[Link] = ()
    rules: Sequence[Rule] = ()
    figures: Sequence[Box] = ()
    drawings: Sequence[Box] = ()
    sketches: Sequence[Box] = ()
    regions: Regions = no_regions
    structure: Structure = no_structure


def page_layout(
    found: PageParts, frame: PageFrame, evidence: Evidence = NO_EVIDENCE, *, scored: bool = False
) -> PageLayout:
    """The regions of a page, given evidence about its document; `scored` rates their order."""
    flowing, turned = _lines(found)
    flowing, heads = _without_heads(flowing, evidence, frame.upright_size[1])
    chunks = [
        *chunks_of_items(found.items, found.rules, found.links),
        *chunks_of_lines(found.lines, found.rules),
    ]
    drawn, flowing, turned = _drawn(found, chunks, flowing, turned, frame.upright_size)
    entries, flowing = contents(flowing)
    loose, tables = _taken(flowing, _tables(found, chunks, [*drawn, *entries]))
    solids = [*tables, *entries, *drawn, *pictures(found.figures, flowing, drawn)]
    # Leave out tables: their small type would make headings of the text around them.
    style = Style.of([*loose, *(line for entry in entries for line in entry.lines)] or flowing)
    seen = [] if found.items else found.regions()
    loose = with_text_even(loose, seen, style.size)
    loose, solids = captioned(loose, solids, style.size)
    ordered = _in_order(loose, solids, style, frame.upright_size[0])
    ordered = [part for region in ordered for part in with_text(region)]
    ordered = _running_heads(ordered, *frame.upright_size)
    ordered = _outermost(with_seen_kinds(ordered, seen, style.size))
    ordered = with_notes([evidence.levelled(region) for region in ordered])
    if scored:
        ordered = with_order(ordered)
    ordered = [*heads["header"], *ordered, *heads["footer"]]
    ordered += [Region("aside", line.box, line.text, lines=(line,)) for line in turned]
    return PageLayout(frame, ordered, list(dict.fromkeys(link.url for link in found.links)))


def _lines(found: PageParts) -> tuple[list[Line], list[Line]]:
    """The lines that read across the page, and those at an angle."""
    flowing: list[Line] = []
    turned = list(found.slanted)
    for line, angle in text_lines(with_whole_lines(found.items), found.links):
        (turned if abs(angle) > _UPRIGHT else flowing).append(line)
    return [*flowing, *found.lines], turned


def _without_heads(
    lines: Sequence[Line], evidence: Evidence, height: float
) -> tuple[list[Line], dict[str, list[Region]]]:
    """The body lines of a page, and the document's running heads on it by edge."""
    running = evidence.running_heads(lines, height)
    heads: dict[str, list[Region]] = {"header": [], "footer": []}
    edges: tuple[Edge, Edge] = ("header", "footer")
    for edge in edges:
        for row in rows([lines[number] for number in running if running[number] == edge]):
            line = one_line(row)
            heads[edge].append(Region(edge, line.box, line.text, lines=(line,)))
    return [line for number, line in enumerate(lines) if number not in running], heads


def _drawn(
    found: PageParts,
    chunks: Sequence[Chunk],
    lines: list[Line],
    turned: list[Line],
    size: tuple[float, float],
) -> tuple[list[Region], list[Line], list[Line]]:
    """The figures outside tables with their labels, and the other lines."""
    joined = diagrams(found.rules, lines)
    places = [
        *(FigurePlace(diagram.box, diagram.frames) for diagram in joined),
        *(FigurePlace(box) for box in found.drawings),
        *(FigurePlace(box, picture=True) for box in [*found.figures, *found.sketches]),
    ]
    if not places:
        return [], lines, turned
    chunks, rules = _outside(chunks, found.rules, [diagram.box for diagram in joined])
    tables = [table.box for table in ruled_tables(chunks, rules)]
    places = outside_tables(places, tables)
    if not found.items or are_doubtful(places, lines):
        seen = outside_tables(found.regions(), tables)
        places = whole_figures(places, seen, lines, size)
    return labelled(places, lines, turned)


def _outside(
    chunks: Sequence[Chunk], rules: Sequence[Rule], boxes: Iterable[Box]
) -> tuple[list[Chunk], list[Rule]]:
    """The text and rules outside some boxes."""
    chunks, rules = list(chunks), list(rules)
    for box in boxes:
        chunks = [chunk for chunk in chunks if not box.holds_centre(chunk.box)]
        rules = [rule for rule in rules if not box.holds(*rule.middle)]
    return chunks, rules


def _tables(found: PageParts, chunks: list[Chunk], others: Sequence[Region]) -> list[Region]:
    """The tables outside other regions."""
    chunks, rules = _outside(chunks, found.rules, [other.box for other in others])
    return find_tables(chunks, rules, found.regions, found.structure, scanned=not found.items)


def _taken(lines: list[Line], tables: list[Region]) -> tuple[list[Line], list[Region]]:
    """Assigns lines inside tables to them; returns the other lines and the tables."""
    held: dict[int, list[Line]] = {}
    loose = []
    for line in lines:
        x, y = line.box.centre
        for number, table in enumerate(tables):
            if table.box.holds(x, y):
                held.setdefault(number, []).append(line)
                break
        else:
            loose.append(line)
    tables = [
        replace(table, lines=tuple(held.get(number, ()))) for number, table in enumerate(tables)
    ]
    return loose, tables


def _in_order(
    lines: Sequence[Line], solids: Sequence[Region], style: Style, width: float
) -> list[Region]:
    """The regions of a page in reading order."""
    parts: list[_Part] = [
        *lines,
        *(
            _Solid(Box.around([solid.box, *(line.box for line in solid.lines)]), solid)
            for solid in solids
        ),
    ]
    if not runs_from_right(line.text for line in lines):
        return _flow(parts, style)
    # Mirror right-to-left text, so that it runs from left to right.
    return [
        region.mirrored(width) for region in _flow([part.mirrored(width) for part in parts], style)
    ]


def _flow(parts: list[_Part], style: Style) -> list[Region]:
    """The regions of left-to-right parts."""
    ordered: list[Region] = []
    for column in columns(parts):
        lines: list[Line] = []
        beside: list[tuple[Line, Region]] = []
        for row in rows(column):
            texts = [part for part in row if isinstance(part, Line)]
            solids = [part.region for part in row if isinstance(part, _Solid)]
            if texts:
                lines.append(one_line(texts))
                beside += [(lines[-1], solid) for solid in solids]
            elif solids:
                ordered += [*_with_solids(regions(lines, style), beside), *solids]
                lines, beside = [], []
        ordered += _with_solids(regions(lines, style), beside)
    return ordered


def _with_solids(found: list[Region], beside: list[tuple[Line, Region]]) -> list[Region]:
    """Regions of text, each followed by the tables and figures beside its lines."""
    for line, solid in reversed(beside):
        after = sum(region.box.top <= line.box.top for region in found)
        found.insert(after, solid)
    return found


def _running_heads(ordered: list[Region], width: float, height: float) -> list[Region]:
    """Marks regions isolated at the page's top and bottom edge as header and footer.

    Uses this page alone, so that it reads the same whichever pages were requested.
    """
    body = [region for region in ordered if _in_body(region, height)]
    sizes = sorted(line.size for region in body for line in region.lines)
    if not sizes or height < _PORTRAIT * width:
        return ordered
    inner = Box.around(region.box for region in body)
    usual = sizes[len(sizes) // 2]

    def kind(region: Region) -> Kind:
        apart = max(inner.top - region.box.bottom, region.box.top - inner.bottom) > usual
        small = all(line.size <= 1.25 * usual for line in region.lines)
        if not apart or not small or _in_body(region, height):
            return region.kind
        return "header" if region.box.bottom < inner.top else "footer"

    return [
        region
        if kind(region) == region.kind
        else Region(kind(region), region.box, join_lines(region.lines), lines=region.lines)
        for region in ordered
    ]


def _outermost(regions: Sequence[Region]) -> list[Region]:
    """Headers above all other text first and footers below it last, in whatever column."""
    body = [region.box for region in regions if region.kind not in ("header", "footer")]
    if not body:
        return list(regions)
    inner = Box.around(body)

    def place(region: Region) -> int:
        above = region.kind == "header" and region.box.bottom <= inner.top
        below = region.kind == "footer" and region.box.top >= inner.bottom
        return below - above

    return sorted(regions, key=place)


def _in_body(region: Region, height: float) -> bool:
    """Whether a region cannot be a running head."""
    band = height * (_NUMBER_BAND if _PAGE_NUMBER.fullmatch(region.text) else _BAND)
    inside = region.box.bottom >= band and region.box.top <= height - band
    return region.kind in ("table", "figure") or inside
