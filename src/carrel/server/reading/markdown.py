"""Regions to the page that travels: Markdown, tables, pictures, blocks and scores."""

import base64
import io
import math
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from PIL import Image

from carrel.server.reading.inline import add_inline, escaped
from carrel.server.reading.layout import Box, PageLayout, Region
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.scored_text import ScoredText
from carrel.server.reading.tables.forms import pieces
from carrel.wire.ocr import (
    Block,
    BlockScores,
    BlockType,
    Dimensions,
    Page,
    PageImage,
    PageScores,
    PageTable,
    TableFormat,
    WordScore,
)

IDS_PER_PAGE = 1000
"""`img-N` and `tbl-N` count from the page's number times this, so batches never clash."""

Crop = Callable[[tuple[int, int, int, int]], Image.Image]
"""The part of the page's picture inside a rectangle of its pixels."""

_TYPES: dict[str, BlockType] = {
    "heading": "title",
    "code": "code",
    "list_item": "list",
    "caption": "caption",
    "aside": "aside_text",
}
_JPEG_QUALITY = 90


@dataclass(frozen=True)
class Raster:
    """A page's pixels: its size, how many points one pixel is, and how to cut pieces out of it."""

    dpi: int
    width: int
    height: int
    points_per_pixel: float
    crop: Crop

    def pixels(self, box: Box) -> tuple[int, int, int, int]:
        """A box of the page in whole pixels, at least one wide and inside the page."""
        scale = 1 / self.points_per_pixel
        left = min(max(0, math.floor(box.left * scale)), self.width - 1)
        top = min(max(0, math.floor(box.top * scale)), self.height - 1)
        right = min(max(left + 1, math.ceil(box.right * scale)), self.width)
        bottom = min(max(top + 1, math.ceil(box.bottom * scale)), self.height)
        return left, top, right, bottom


@dataclass
class _Composer:
    """Puts one page together, region by region."""

    index: int
    layout: PageLayout
    raster: Raster
    options: ReadOptions
    text: ScoredText = field(default_factory=ScoredText)
    images: list[PageImage] = field(default_factory=list)
    tables: list[PageTable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    heads: dict[str, list[str]] = field(default_factory=lambda: {"header": [], "footer": []})

    def page(self) -> Page:
        for group in _grouped(self.layout.regions):
            self._add(group)
        granularity = self.options.granularity
        return Page(
            index=self.index,
            markdown=str(self.text),
            images=self.images,
            dimensions=Dimensions(
                dpi=self.raster.dpi, height=self.raster.height, width=self.raster.width
            ),
            tables=self.tables,
            hyperlinks=self.layout.hyperlinks,
            header="\n".join(self.heads["header"]) or None,
            footer="\n".join(self.heads["footer"]) or None,
            confidence_scores=self._scores() if granularity else None,
            blocks=self.blocks if self.options.include_blocks else None,
        )

    def _add(self, group: list[Region]) -> None:
        first = group[0]
        match first.kind:
            case "header" | "footer":
                self._add_head(first)
            case "figure":
                self._add_image(first)
            case "table":
                self._add_table(first)
            case "list_item":
                self._add_text(group, _list(group))
            case "heading":
                text = ScoredText()
                text.syntax("#" * min(6, max(1, first.level)) + " ")
                add_inline(text, first)
                self._add_text(group, text)
            case "note":
                text = ScoredText()
                text.syntax("[^")
                text.content(first.marker, first.lines)
                text.syntax("]: ")
                add_inline(text, first)
                self._add_text(group, text)
            case "code":
                text = ScoredText()
                text.syntax("```\n")
                text.content(first.text, first.lines)
                text.syntax("\n```")
                self._add_text(group, text)
            case "paragraph" | "aside" | "caption":
                text = ScoredText()
                add_inline(text, first)
                self._add_text(group, text)

    def _separate(self) -> None:
        if self.text.length:
            self.text.syntax("\n\n")

    def _add_text(self, group: list[Region], text: ScoredText) -> None:
        self._separate()
        self.text.append(text)
        self._add_block(_TYPES.get(group[0].kind, "text"), group, text)

    def _add_head(self, region: Region) -> None:
        wanted = {"header": self.options.extract_header, "footer": self.options.extract_footer}
        if wanted[region.kind]:
            self.heads[region.kind].append(region.text)
        text = ScoredText()
        text.content(region.text, region.lines)
        self._add_block("header" if region.kind == "header" else "footer", [region], text)

    def _add_image(self, region: Region) -> None:
        left, top, right, bottom = self._place([region])
        least = self.options.image_min_size or 0
        limit = self.options.image_limit
        if min(right - left, bottom - top) < least or (
            limit is not None and len(self.images) >= limit
        ):
            return
        name = f"img-{self.index * IDS_PER_PAGE + len(self.images)}.jpeg"
        data = None
        if self.options.include_image_base64:
            data = data_url(self.raster.crop((left, top, right, bottom)))
        self.images.append(
            PageImage(
                id=name,
                top_left_x=left,
                top_left_y=top,
                bottom_right_x=right,
                bottom_right_y=bottom,
                image_base64=data,
            )
        )
        text = ScoredText()
        text.syntax(f"![{name}]({name})")
        self._separate()
        self.text.append(text)
        self._add_block("image", [region], text, image_id=name)

    def _add_table(self, region: Region) -> None:
        form = self.options.table_format
        content = _table(region, form or "markdown")
        self._separate()
        name = None
        if form is None:
            self.text.append(content)
        else:
            number = self.index * IDS_PER_PAGE + len(self.tables)
            name = f"tbl-{number}.{'html' if form == 'html' else 'md'}"
            self.tables.append(
                PageTable(
                    id=name,
                    content=str(content),
                    format=form,
                    word_confidence_scores=(
                        _scored(content) if self.options.granularity == "word" else None
                    ),
                )
            )
            self.text.syntax(f"[{name}]({name})")
        self._add_block("table", [region], content, table_id=name)

    def _place(self, group: list[Region]) -> tuple[int, int, int, int]:
        box = Box.around(region.box for region in group)
        return self.raster.pixels(self.layout.frame.on_page(box))

    def _add_block(
        self,
        kind: BlockType,
        group: list[Region],
        text: ScoredText,
        *,
        table_id: str | None = None,
        image_id: str | None = None,
    ) -> None:
        if not self.options.include_blocks:
            return
        left, top, right, bottom = self._place(group)
        scores = None
        if self.options.granularity == "block":
            certainties = [word.confidence for word in text.words()]
            scores = BlockScores(
                average_content_confidence_score=statistics.fmean(certainties)
                if certainties
                else None,
                minimum_content_confidence_score=min(certainties, default=None),
            )
        self.blocks.append(
            Block(
                type=kind,
                top_left_x=left,
                top_left_y=top,
                bottom_right_x=right,
                bottom_right_y=bottom,
                content=str(text),
                table_id=table_id,
                image_id=image_id,
                confidence_scores=scores,
            )
        )

    def _scores(self) -> PageScores:
        certainties = [
            word.confidence
            for region in self.layout.regions
            for line in region.lines
            for word in line.words
        ]
        return PageScores(
            average_page_confidence_score=statistics.fmean(certainties or [1.0]),
            minimum_page_confidence_score=min(certainties, default=1.0),
            word_confidence_scores=(
                _scored(self.text) if self.options.granularity == "word" else None
            ),
        )


def compose(index: int, layout: PageLayout, raster: Raster, options: ReadOptions) -> Page:
    """The page that travels."""
    return _Composer(index, layout, raster, options).page()


def data_url(picture: Image.Image) -> str:
    """A picture as a JPEG data URL."""
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _grouped(regions: Sequence[Region]) -> Iterator[list[Region]]:
    """One region at a time, but the items of a list together."""
    group: list[Region] = []
    for region in regions:
        if group and not (region.kind == group[-1].kind == "list_item"):
            yield group
            group = []
        group.append(region)
    if group:
        yield group


def _scored(text: ScoredText) -> list[WordScore]:
    return [WordScore(**word._asdict()) for word in text.words()]


def _list(items: list[Region]) -> ScoredText:
    text = ScoredText()
    for number, item in enumerate(items):
        if number:
            text.syntax("\n")
        ordered = re.sub(r"[^\w]", "", item.marker)
        marker = f"{ordered}." if ordered.isdigit() else "-"
        text.syntax("   " * item.level + marker + " ")
        if ordered and not ordered.isdigit():
            text.content(item.marker, item.lines)
            text.syntax(" ")
        add_inline(text, item)
    return text


def _table(region: Region, form: TableFormat) -> ScoredText:
    assert region.table is not None
    table = region.table
    if form == "markdown":
        cells = [replace(cell, text=escaped(cell.text, line_start=False)) for cell in table.cells]
        table = replace(table, cells=tuple(cells))
    text = ScoredText()
    for piece in pieces(table, form):
        if piece.content:
            text.content(piece.text, region.lines)
        else:
            text.syntax(piece.text)
    return text
