"""Certainty of the reading order: the share of similarly placed blocks that follow the right one.

`uv run python tests/benchmarks reading_order` measures it, and holds it against `_CERTAINTY`.
"""

from collections.abc import Sequence
from dataclasses import replace

from carrel.server.reading.page.elements import Kind, Region

_CERTAINTY = {
    "first": 0.99,
    "below": 0.99,
    "next column": 0.82,
    "tight": 0.77,
    "table": 0.72,
    "apart": 0.6,
}
"""By placement: the fraction of blocks that follow the right one and are whole.

Nothing but the heights of words tells which of those that stand apart belong on one line."""
_FLOWING: frozenset[Kind] = frozenset(["heading", "paragraph", "list_item", "code", "table"])
"""Kinds whose place in the order can be wrong; the others may be read at any time."""
_SHARED = 0.3
"""Height that blocks side by side share, in type sizes."""
_TIGHT = 1.6
"""Width of a gutter, in type sizes, below which columns are easily taken for one."""
_SPREAD = 0.875
"""Width of a line per letter, in type sizes, from which its words stand apart."""
_SHORTEST = 6
"""Letters of a line that is long enough to judge."""


def with_order(regions: Sequence[Region]) -> list[Region]:
    """Return the regions of a page, each with the certainty that it follows the one before it."""
    body = [region for region in regions if region.kind in _FLOWING]
    order = {id(r): _CERTAINTY[placement(body, place)] for place, r in enumerate(body)}
    return [replace(region, order=order.get(id(region))) for region in regions]


def placement(body: Sequence[Region], place: int) -> str:
    """Return the class of a block's placement among the others; `body` is in reading order."""
    region = body[place]
    above = body[place - 1] if place else None
    if region.kind == "table" or (above and above.kind == "table"):
        return "table"
    if any(map(_is_spread, [region] if above is None else [region, above])):
        return "apart"
    size = region.lines[0].size if region.lines else region.box.height
    beside = [other for other in body if other is not region and _is_beside(region, other, size)]
    if above is None:
        return "first"
    if any(-region.box.shared_width(other.box) < _TIGHT * size for other in beside):
        return "tight"
    if above in beside or region.box.top < above.box.top:
        return "next column"
    return "below"


def _is_beside(region: Region, other: Region, size: float) -> bool:
    """Return whether a block stands at the side of another."""
    one, two = region.box, other.box
    return one.shared_height(two) > _SHARED * size and one.shared_width(two) <= 1


def _is_spread(region: Region) -> bool:
    """Return whether words of a block stand apart, as labels of a chart or cells in a line do."""
    return region.kind in ("paragraph", "list_item") and any(
        len(line.text) >= _SHORTEST and line.box.width > _SPREAD * line.size * len(line.text)
        for line in region.lines
    )
