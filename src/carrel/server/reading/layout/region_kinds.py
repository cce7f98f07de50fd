"""Applies the layout model's kinds to the lines and blocks of a scan.

Heights of recognised letters say less about headings than font sizes do, and no page before or
after shows which lines repeat.
"""

from collections.abc import Sequence
from dataclasses import replace

from carrel.server.reading.layout.hyphens import join_lines
from carrel.server.reading.page.elements import Box, Kind, Line, Region
from carrel.server.reading.page.seen import ModelRegion, RegionKind

_SURE = 0.7
"""Least confidence at which the model's kind applies."""
_LARGE = 1.12
"""Type larger than the text's by this factor is no running head: the model mistakes a page's
first heading for one.
"""
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
    """Sets lines within running text to its size."""
    prose = [region.box for region in regions if region.kind == "text" and _is_sure(region)]
    if not prose:
        return list(lines)

    def is_text(line: Line) -> bool:
        return any(box.holds_centre(line.box) for box in prose)

    return [replace(line, size=size, bold=False) if is_text(line) else line for line in lines]


def with_seen_kinds(
    found: Sequence[Region], regions: Sequence[ModelRegion], size: float
) -> list[Region]:
    """Applies the model's running heads and captions to blocks; `size` is the text's.

    Only paragraphs and headings change.
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
    return Region(kind, region.box, join_lines(region.lines), lines=region.lines)


def _smallest(box: Box, regions: Sequence[ModelRegion]) -> ModelRegion | None:
    """The smallest region that contains the middle of a box."""
    holding = [region for region in regions if _is_sure(region) and region.box.holds_centre(box)]
    return min(holding, key=lambda region: region.box.width * region.box.height, default=None)


def _is_sure(region: ModelRegion) -> bool:
    return region.confidence >= _SURE
