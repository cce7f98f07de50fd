"""Composes the API's page from regions: headings, lists, code and notes as Markdown."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PIL import Image

from carrel.server.reading.markdown.inline import add_inline
from carrel.server.reading.markdown.page_builder import Certainty, PageBuilder, Place
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.page.elements import Box, PageLayout, Region, split_when
from carrel.wire.ocr import BlockType, Dimensions, Page

_TYPES: dict[str, BlockType] = {
    "heading": "title",
    "code": "code",
    "list_item": "list",
    "caption": "caption",
    "aside": "aside_text",
    "header": "header",
    "footer": "footer",
}


@dataclass(frozen=True)
class Raster:
    """A page's pixels: resolution, size, points per pixel, and a crop function."""

    dpi: int
    width: int
    height: int
    points_per_pixel: float
    crop: Callable[[tuple[int, int, int, int]], Image.Image]

    def pixels(self, box: Box) -> tuple[int, int, int, int]:
        """Return a box in whole pixels, clipped to the page and at least one pixel wide."""
        scale = 1 / self.points_per_pixel
        left = min(max(0, math.floor(box.left * scale)), self.width - 1)
        top = min(max(0, math.floor(box.top * scale)), self.height - 1)
        right = min(max(left + 1, math.ceil(box.right * scale)), self.width)
        bottom = min(max(top + 1, math.ceil(box.bottom * scale)), self.height)
        return left, top, right, bottom


def compose(index: int, layout: PageLayout, raster: Raster, options: ReadOptions) -> Page:
    """Compose the API's page, region by region."""
    frame = layout.frame
    builder = PageBuilder(
        index, options, lambda boxes: Place(*raster.pixels(frame.on_page(Box.around(boxes))))
    )
    # Only items of a list are one block.
    for group in split_when(
        layout.regions, lambda one, other: not one.kind == other.kind == "list_item"
    ):
        first, boxes = group[0], [region.box for region in group]
        certainty = Certainty(first.order, first.structure)
        if first.kind == "figure":
            left, top, right, bottom = place = raster.pixels(frame.on_page(first.box))
            builder.add_image((right - left, bottom - top), partial(raster.crop, place), boxes)
        elif first.table is not None:
            builder.add_table(first.table, boxes, first.lines, certainty=certainty)
        else:
            text = _text(group, plain=first.kind in builder.heads)
            builder.add(_TYPES.get(first.kind, "text"), text, boxes, certainty)
    dimensions = Dimensions(dpi=raster.dpi, height=raster.height, width=raster.width)
    lines = [line for region in layout.regions for line in region.lines]
    return builder.page(dimensions, layout.hyperlinks, lines)


def _text(group: list[Region], *, plain: bool) -> ScoredText:
    """Return the Markdown of a region, or of the items of a list; `plain` text is kept as it is."""
    first, text = group[0], ScoredText()
    match first.kind:
        case _ if plain:
            text.content(first.text, first.lines)
        case "list_item":
            _add_list(text, group)
        case "code":
            text.syntax("```\n")
            text.content(first.text, first.lines)
            text.syntax("\n```")
        case kind:
            if kind == "heading":
                text.syntax("#" * min(6, max(1, first.level)) + " ")
            elif kind == "note":
                text.syntax("[^")
                text.content(first.marker, first.lines)
                text.syntax("]: ")
            add_inline(text, first)
    return text


def _add_list(text: ScoredText, items: list[Region]) -> None:
    last = dict[int, tuple[int, str]]()
    for index, item in enumerate(items):
        ordered, marker = re.sub(r"[^\w]", "", item.marker), "-"
        last = {level: seen for level, seen in last.items() if level <= item.level}
        if ordered.isdigit():
            before, sign = last.get(item.level, (int(ordered) - 1, "."))
            # Within a list numbers are counted, not read: another sign begins another list.
            sign = sign if int(ordered) == before + 1 else ".)"[sign == "."]
            last[item.level] = int(ordered), sign
            marker = ordered + sign
        text.syntax("\n" * bool(index) + "   " * item.level + marker + " ")
        if ordered and not ordered.isdigit():
            text.content(item.marker, item.lines)
            text.syntax(" ")
        add_inline(text, item)
