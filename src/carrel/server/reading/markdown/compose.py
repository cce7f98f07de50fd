"""Composes the API's page from regions: headings, lists, code and notes as Markdown."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PIL import Image

from carrel.server.reading.markdown.inline import add_inline
from carrel.server.reading.markdown.page_builder import Certainty, PageBuilder, Place
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.page.elements import Box, PageLayout, Region, split_when
from carrel.wire.ocr import BlockType, Dimensions, Page

Crop = Callable[[tuple[int, int, int, int]], Image.Image]
"""Crops a rectangle, in pixels, from the page's picture."""

_TYPES: dict[str, BlockType] = {
    "heading": "title",
    "code": "code",
    "list_item": "list",
    "caption": "caption",
    "aside": "aside_text",
}


@dataclass(frozen=True)
class Raster:
    """A page's pixels: resolution, size, points per pixel, and a crop function."""

    dpi: int
    width: int
    height: int
    points_per_pixel: float
    crop: Crop

    def pixels(self, box: Box) -> tuple[int, int, int, int]:
        """Return a box in whole pixels, clipped to the page and at least one pixel wide."""
        scale = 1 / self.points_per_pixel
        left = min(max(0, math.floor(box.left * scale)), self.width - 1)
        top = min(max(0, math.floor(box.top * scale)), self.height - 1)
        right = min(max(left + 1, math.ceil(box.right * scale)), self.width)
        bottom = min(max(top + 1, math.ceil(box.bottom * scale)), self.height)
        return left, top, right, bottom


def compose(index: int, layout: PageLayout, raster: Raster, options: ReadOptions) -> Page:
    """Compose the API's page."""
    return _Composer(index, layout, raster, options).page()


class _Composer:
    """Composes one page, region by region."""

    def __init__(
        self, index: int, layout: PageLayout, raster: Raster, options: ReadOptions
    ) -> None:
        self._layout = layout
        self._raster = raster
        self._options = options
        # A method would tie builder and composer, and keep the page's picture in memory.
        frame = layout.frame
        self._builder = PageBuilder(
            index, options, lambda boxes: Place(*raster.pixels(frame.on_page(Box.around(boxes))))
        )
        self._heads: dict[str, list[str]] = {"header": [], "footer": []}

    def page(self) -> Page:
        # Only items of a list are one block.
        for group in split_when(
            self._layout.regions, lambda one, other: not one.kind == other.kind == "list_item"
        ):
            self._add(group)
        raster = self._raster
        lines = [line for region in self._layout.regions for line in region.lines]
        return self._builder.page(
            Dimensions(dpi=raster.dpi, height=raster.height, width=raster.width),
            self._layout.hyperlinks,
            (word.confidence for line in lines for word in line.words),
            header="\n".join(self._heads["header"]) or None,
            footer="\n".join(self._heads["footer"]) or None,
            recognised=any(line.read for line in lines),
        )

    def _add(self, group: list[Region]) -> None:
        first, boxes = group[0], [region.box for region in group]
        certainty = Certainty(first.order, first.structure)
        match first.kind:
            case "header" | "footer" as kind:
                self._add_head(kind, first)
            case "figure":
                box = self._layout.frame.on_page(first.box)
                left, top, right, bottom = place = self._raster.pixels(box)
                size = (right - left, bottom - top)
                self._builder.add_image(size, lambda: self._raster.crop(place), boxes)
            case "table":
                assert first.table is not None
                self._builder.add_table(first.table, boxes, first.lines, certainty=certainty)
            case _:
                block_type = _TYPES.get(first.kind, "text")
                self._builder.add(block_type, _text(group), boxes, certainty)

    def _add_head(self, kind: Literal["header", "footer"], region: Region) -> None:
        """Add a running head to the Markdown unless it was requested separately."""
        options = self._options
        apart = options.extract_header if kind == "header" else options.extract_footer
        if not apart:
            self._builder.add(kind, _text([region]), [region.box])
            return
        self._heads[kind].append(region.text)
        text = ScoredText()
        text.content(region.text, region.lines)
        self._builder.add_block(kind, text, [region.box])


def _text(group: list[Region]) -> ScoredText:
    """Return the Markdown of a region, or of the items of a list."""
    first, text = group[0], ScoredText()
    match first.kind:
        case "list_item":
            _add_list(text, group)
        case "heading":
            text.syntax("#" * min(6, max(1, first.level)) + " ")
            add_inline(text, first)
        case "note":
            text.syntax("[^")
            text.content(first.marker, first.lines)
            text.syntax("]: ")
            add_inline(text, first)
        case "code":
            text.syntax("```\n")
            text.content(first.text, first.lines)
            text.syntax("\n```")
        case _:
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
