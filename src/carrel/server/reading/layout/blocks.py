"""Assembles a page's text, rules and pictures into regions in reading order."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

from carrel.server.reading.fence import doubt, fenced
from carrel.server.reading.layout.diagrams import diagrams
from carrel.server.reading.layout.evidence import Evidence, FirstPage, with_told_levels
from carrel.server.reading.layout.figures import (
    FigurePlace,
    are_prose,
    label_figures,
    pictures,
    with_text,
)
from carrel.server.reading.layout.flow import reading_order
from carrel.server.reading.layout.notes import with_notes
from carrel.server.reading.layout.order import with_order
from carrel.server.reading.layout.text_blocks import (
    TextBlock,
    block_region,
    text_blocks,
    with_list_levels,
)
from carrel.server.reading.page.elements import Box, Line, PageFrame, PageLayout, Region
from carrel.server.reading.page.hyphens import words_of
from carrel.server.reading.page.lines import item_line, runs_from_right, usual_size
from carrel.server.reading.page.parsed import Link, TextItem
from carrel.server.reading.page.rules import Rule, Shade
from carrel.server.reading.page_model.features import Surroundings, page_features
from carrel.server.reading.page_model.network import look
from carrel.server.reading.page_model.pieces import UPRIGHT, mirrored_rows, page_pieces
from carrel.server.reading.page_model.tags import TaggedText, with_tags
from carrel.server.reading.tables.decode import PageReading
from carrel.server.reading.tables.find import FRAMED, find_tables

NO_EVIDENCE = Evidence()
_LIKELY = 0.5
_AGREED = 0.15
"""Least likelihood at which text that other pages repeat at their edge is a running head."""
_SCREEN, _SKETCH = 0.5, 0.22
"""Least filled part of a table: on a screen, and else, where labels of a drawing fill less."""
_WIDE = 0.9
"""Least width of a scan in a page, as a part of the page's."""
_FIGURE = re.compile(r"\W*(\d[\W\d]*\w{0,4})?")
"""A value without words, but for its unit."""


@dataclass(frozen=True)
class PageParts:
    """Everything found on a page, in points of its upright layout, which `frame` maps to the page.

    `items` is liteparse's text layer, with word boxes; `lines` is text found in another way, by
    OCR if needed, and `apart` what is no part of the flow: text at an angle, comments. `rules` may
    frame tables. `figures` are the `pictures` without a background, `drawings` are charts and
    diagrams drawn with vector graphics. `fields` are those of a form, `tagged` is what a tagged
    file says of its text, `alternatives` are its figures' alternative texts.
    """

    frame: PageFrame
    items: Sequence[TextItem] = ()
    lines: Sequence[Line] = ()
    apart: Sequence[Line] = ()
    links: Sequence[Link] = ()
    rules: Sequence[Rule] = ()
    figures: Sequence[Box] = ()
    drawings: Sequence[Box] = ()
    shades: Sequence[Shade] = ()
    fields: Sequence[Box] = ()
    pictures: Sequence[Box] = ()
    tagged: Sequence[TaggedText] = ()
    alternatives: Sequence[Line] = ()

    @property
    def text_boxes(self) -> list[Box]:
        """The boxes of all text in the flow."""
        return [*(item.box for item in self.items), *(line.box for line in self.lines)]

    @property
    def inset_pictures(self) -> list[Box]:
        """The pictures set into a page with a text layer. One as wide as the page is a scan."""
        width, _ = self.frame.upright_size
        return [box for box in self.figures if self.items and box.width < _WIDE * width]

    @cached_property
    def reading(self) -> PageReading | None:
        """The text in pieces with the page model's view; None without any."""
        PageParts.look_at([self])
        found: PageReading | None = vars(self).get("reading")
        return found

    @staticmethod
    def look_at(pages: Sequence["PageParts"]) -> None:
        """Read the text of several pages together: one by one takes longer."""
        texts = [page_pieces(page.items, page.lines, page.rules, page.links) for page in pages]
        seen, read = [], list[tuple[PageParts, list[Line], bool, Sequence[TaggedText]]]()
        for page, rows in ((page, rows) for page, rows in zip(pages, texts, strict=True) if rows):
            width, height = page.frame.upright_size
            from_right = runs_from_right(piece.text for row in rows for piece in row)
            found = page.mirrored() if from_right else page
            rows = mirrored_rows(rows, width) if from_right else rows
            drawn = (found.rules, found.shades, [*found.figures, *found.drawings])
            around = Surroundings(width, height, *drawn, scanned=not page.items)
            seen.append((rows, around))
            pieces = [piece for row in rows for piece in row]
            read.append((page, pieces, from_right, found.tagged))
        views = look(page_features(seen)) if seen else []
        for (page, pieces, from_right, tagged), view in zip(read, views, strict=True):
            if tagged:
                view = fenced("tags", with_tags, view, pieces, tagged) or view
            vars(page)["reading"] = PageReading(pieces, view, from_right)

    def as_first_page(self, number: int) -> FirstPage:
        """Return the page as evidence, with what the page model takes for headings."""
        _, height = self.frame.upright_size
        if (page := self.reading) is None:
            return FirstPage(number, height)
        likely = compress(page.pieces, page.view.role("heading") > _LIKELY)
        headings = [piece for piece in likely if any(map(str.isalpha, piece.text))]
        return FirstPage(number, height, page.pieces, headings)

    def mirrored(self) -> "PageParts":
        """Return what is drawn mirrored."""
        width, _ = self.frame.upright_size
        drawn = ("rules", "shades", "figures", "drawings", "fields", "alternatives")
        turned: dict[str, Any] = {
            name: [part.mirrored(width) for part in getattr(self, name)] for name in drawn
        }
        tagged = [(box.mirrored(width), tag) for box, tag in self.tagged]
        return replace(self, tagged=tagged, **turned)


def page_layout(
    found: PageParts, evidence: Evidence = NO_EVIDENCE, *, scored: bool = False
) -> PageLayout:
    """Return the regions of a page by its document's evidence; `scored` rates their order.

    A step that fails is left out.
    """
    ordered = fenced("layout", _regions, found, evidence) or plain_regions(found)
    if scored:
        ordered = fenced("order", with_order, ordered) or ordered
    return PageLayout(found.frame, ordered, list(dict.fromkeys(link.url for link in found.links)))


def plain_regions(found: PageParts) -> list[Region]:
    """Return the plainest reading of a page: its lines from top to bottom."""
    lines = [Line(item.text, item.box, item.size or item.height) for item in found.items]
    return _from_top([*lines, *found.lines, *found.apart])


def _from_top(lines: Iterable[Line], solids: Iterable[Region] = ()) -> list[Region]:
    """Return the lines, a paragraph each, and other regions from top to bottom."""
    texts = [Region("paragraph", line.box, line.text, lines=(line,)) for line in lines]
    return sorted([*texts, *solids], key=lambda region: region.box.top)


def _regions(found: PageParts, evidence: Evidence) -> list[Region]:
    """Return the regions of a page in reading order."""
    size = found.frame.upright_size
    # At an angle to the page, or apart from its flow.
    items = [item for item in found.items if item.rotation and abs(item.angle) > UPRIGHT]
    turned = [*found.apart, *filter(None, (item_line(item, found.links) for item in items))]
    page = found.reading
    if page is None:
        ordered = pictures(found.figures, (), ())
    else:
        if not found.items and (page.view.role("formula") > _LIKELY).any():
            # OCR cannot put formulas together.
            doubt()
        if page.from_right:
            found = found.mirrored()
            turned = [line.mirrored(size[0]) for line in turned]
        loose = list(page.pieces)
        joined = fenced("diagrams", diagrams, found.rules, page) or []
        apart = set(range(len(loose))).difference(*(page.inside(each.box) for each in joined))
        tables = fenced("tables", find_tables, page, found.rules, apart, found.drawings) or []
        sketched = [t for t in tables if t.structure != FRAMED and _filled(t) < _SKETCH]
        joined += [FigurePlace(table.box) for table in sketched]
        tables = [t for t in tables if not (t in sketched or _is_part(t, found, loose))]
        held = {id(line) for table in tables for line in table.lines}
        loose = [line for line in loose if id(line) not in held]
        figures = fenced("figures", _find_figures, found, joined, tables, loose, turned, page)
        drawn, loose, turned = figures or ([], loose, turned)
        shown = fenced("pictures", pictures, found.figures, loose, drawn) or []
        heads = fenced("running heads", _running_heads, page, evidence, size[1]) or set()
        left = {*map(id, loose)}
        numbers = [number for number, piece in enumerate(page.pieces) if id(piece) in left]
        blocks = text_blocks(page, numbers, heads, found.fields)
        solids = [*tables]
        for figure in (*drawn, *shown):
            said = tuple(t for t in found.alternatives if figure.box.holds_centre(t.box))
            solids.append(replace(figure, labels=figure.labels or said))
        placed = fenced("columns", _sort_regions, blocks, solids, loose or page.pieces, size[1])
        ordered = placed or _from_top(loose, solids)
        ordered = [part for region in ordered for part in with_text(region)]
        # In whatever column they stand, but not amid the text.
        top = min((part.box.top for part in ordered if part.kind != "header"), default=0)
        end = max((part.box.bottom for part in ordered if part.kind != "footer"), default=0)
        above = {id(p) for p in ordered if p.kind == "header" and p.box.bottom <= top}
        below = {id(p) for p in ordered if p.kind == "footer" and p.box.top >= end}
        ordered.sort(key=lambda part: (id(part) in below) - (id(part) in above))
        ordered = evidence.with_levels(ordered)
        ordered = fenced("told levels", with_told_levels, ordered, found.tagged) or ordered
        ordered = fenced("notes", with_notes, ordered) or ordered
    ordered += [Region("aside", line.box, line.text, lines=(line,)) for line in turned]
    if page and page.from_right:
        return [region.mirrored(size[0]) for region in ordered]
    return ordered


def _running_heads(page: PageReading, evidence: Evidence, height: float) -> set[int]:
    """Return the running heads: pieces that the model takes for one and other pages confirm.

    No confirmation is needed in a document of one page, or for heads whose words may vary.
    """
    likely = page.view.role("running_head", "folio")
    heads = {
        number
        for number, often in evidence.running_heads(page.pieces, height).items()
        if often or likely[number] > _AGREED or not any(map(str.isalpha, page.pieces[number].text))
    }
    folio = page.view.role("folio")
    for number in (likely > _LIKELY).nonzero()[0].tolist():
        alone = evidence.pages < 2 or folio[number] > _LIKELY
        if alone or evidence.is_variable(page.pieces[number]):
            heads.add(number)
    return heads


def _is_part(table: Region, found: PageParts, lines: Sequence[Line]) -> bool:
    """Return whether a picture shows more than a table read in it, or a form on a screen."""
    held = {id(line) for line in table.lines}
    around = [box for box in found.inset_pictures if _read_in(box, table.lines)]
    beside = [line for box in around for line in _read_in(box, lines) if id(line) not in held]
    empty = bool(around) and _filled(table) < _SCREEN
    return empty or (2 * len(beside) > len(held) and not are_prose(beside))


def _filled(region: Region) -> float:
    """Return which part of a table's cells have text."""
    texts = [cell.text for cell in region.table.cells] if region.table else []
    return sum(map(bool, texts)) / max(1, len(texts))


def _read_in(picture: Box, lines: Iterable[Line]) -> list[Line]:
    """Return the lines that OCR read in a picture."""
    return [line for line in lines if line.read and picture.holds_centre(line.box)]


def _find_figures(
    found: PageParts,
    joined: Sequence[FigurePlace],
    tables: Sequence[Region],
    lines: list[Line],
    turned: list[Line],
    page: PageReading,
) -> tuple[list[Region], list[Line], list[Line]]:
    """Return the figures outside tables with their labels, and the other lines."""
    drawn = [box for box in found.drawings if not any(j.box.contains(box, 0) for j in joined)]
    pictured = (FigurePlace(box, picture=True) for box in found.figures)
    places = [*joined, *map(FigurePlace, drawn), *pictured]
    places = [place for place in places if not any(place.box.meets(table.box) for table in tables)]
    label, other = page.view.role("figure_label"), page.view.role("heading", "caption", "list_item")
    chances = dict(zip(map(id, page.pieces), (label - other).tolist(), strict=True))
    chances |= {id(line): 1.0 for box in found.inset_pictures for line in _read_in(box, lines)}
    return label_figures(places, lines, turned, lambda line: chances[id(line)])


def _sort_regions(
    blocks: Sequence[TextBlock], solids: Sequence[Region], lines: Sequence[Line], height: float
) -> list[Region]:
    """Return the regions of a page with such lines in reading order."""
    words = words_of([line.text for line in lines])
    regions = [*(block_region(block, words, height) for block in blocks), *solids]
    texts = [[line.box for line in block.lines] for block in blocks]
    places = [Box.around([solid.box, *(line.box for line in solid.lines)]) for solid in solids]
    figures = {n for n, block in enumerate(blocks) if _FIGURE.fullmatch(block.lines[0].text)}
    ordered = [regions[number] for number in reading_order(texts, places, figures)]
    return with_list_levels(ordered, usual_size(lines))
