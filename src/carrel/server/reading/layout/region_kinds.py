"""The layout model's word on the kinds of lines and blocks of a scan.

The heights of recognised letters say less about headings than the sizes of fonts do, and no page
before or after shows which lines are repeated.
"""

from collections.abc import Sequence
from dataclasses import replace

from carrel.server.reading.layout.hyphens import join_lines
from carrel.server.reading.page.elements import Box, Kind, Line, Region
from carrel.server.reading.page.seen import ModelRegion, RegionKind

_SURE = 0.7
"""The confidence with which the model's word counts."""
_LARGE = 1.12
"""Larger letters than the text's by this factor are no running head: the model takes the first
heading of a page for one."""
_LINES = 3
"""Lines of a caption or running head, at the most: the model may mistake a paragraph for one."""
_SENTENCE_ENDS = (".", ":", ";", ",")
_KINDS: dict[RegionKind, Kind] = {
    "header": "header",
    "footer": "footer",
    "table_caption": "caption",
    "figure_caption": "caption",
}


def with_text_even(
    lines: Sequence[Line], regions: Sequence[ModelRegion], size: float
) -> list[Line]:
    """The lines; those in the middle of running text are as large as it is."""
    prose = [region.box for region in regions if region.kind == "text" and _is_sure(region)]

    def is_text(line: Line) -> bool:
        return any(box.holds(*line.box.centre) for box in prose)

    return [replace(line, size=size, bold=False) if is_text(line) else line for line in lines]


def with_seen_kinds(
    found: Sequence[Region], regions: Sequence[ModelRegion], size: float
) -> list[Region]:
    """The blocks of a page whose text has this size; running heads and captions as they are seen.

    Paragraphs and headings alone change.
    """
    return [_as_seen(region, regions, size) for region in found]


def _as_seen(region: Region, regions: Sequence[ModelRegion], size: float) -> Region:
    if region.kind not in ("heading", "paragraph"):
        return region
    seen = _smallest(region.box, regions)
    kind = _KINDS.get(seen.kind) if seen else None
    if kind is None:
        return region
    large = any(line.size > _LARGE * size for line in region.lines)
    if kind != "caption" and (large or region.text.endswith(_SENTENCE_ENDS)):
        return region
    if len(region.lines) > _LINES:
        return region
    return Region(kind, region.box, join_lines(region.lines), lines=region.lines)


def _smallest(box: Box, regions: Sequence[ModelRegion]) -> ModelRegion | None:
    """The smallest region that the middle of a box stands in."""
    holding = [region for region in regions if _is_sure(region) and region.box.holds(*box.centre)]
    return min(holding, key=lambda region: region.box.width * region.box.height, default=None)


def _is_sure(region: ModelRegion) -> bool:
    return region.confidence >= _SURE
