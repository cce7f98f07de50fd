"""Regions: where titles, text, tables and figures stand on a page, as a layout model sees them.

And the cells that a table structure model sees in one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.server.reading.page.elements import Box

RegionKind = Literal[
    "title",
    "text",
    "list",
    "table",
    "table_caption",
    "figure",
    "figure_caption",
    "header",
    "footer",
    "footnote",
    "reference",
    "equation",
]


@dataclass(frozen=True)
class ModelRegion:
    """A region of a page: its kind, its place, and how sure the model is, 0 to 1.

    The place is in points of the upright layout, from its top left corner.
    """

    kind: RegionKind
    box: Box
    confidence: float


@dataclass(frozen=True)
class CellBox:
    """A cell of a table: its place on the grid (from 0), its spans, and its box on the page.

    The box surrounds the cell's text, in points of the upright layout. A cell without text may
    have an empty box.
    """

    row: int
    column: int
    rows: int
    columns: int
    box: Box


Regions = Callable[[], Sequence[ModelRegion]]
"""Asks the layout model for the regions of the page, at most once.

It takes about 100 ms of processor time. The answer is empty where the model is missing.
"""


def no_regions() -> Sequence[ModelRegion]:
    """The answer where there is no layout model."""
    return ()


Structure = Callable[[Box], Sequence[CellBox]]
"""Asks the table structure model for the cells of the table in a box of the upright layout.

It takes about 200 ms of processor time a table. The answer is empty where the model is missing or
sees no table.
"""


def no_structure(box: Box) -> Sequence[CellBox]:
    """The answer where there is no table structure model."""
    return ()
