"""A layout model's regions (titles, text, tables, figures) and a table model's cells."""

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
    """A region of a page: its kind, its bounding box and the model's confidence (0 to 1).

    The box is in points of the upright layout, from its top left corner.
    """

    kind: RegionKind
    box: Box
    confidence: float


@dataclass(frozen=True)
class CellBox:
    """A table cell: its grid position (from 0), spans and bounding box on the page.

    The box surrounds the cell's text, in points of the upright layout. It may be empty for a
    cell without text.
    """

    row: int
    column: int
    rows: int
    columns: int
    box: Box


Regions = Callable[[], Sequence[ModelRegion]]
"""Asks the layout model for the page's regions, at most once.

Takes about 100 ms of processor time. Empty if the model is missing.
"""


def no_regions() -> Sequence[ModelRegion]:
    """The result without a layout model."""
    return ()


Structure = Callable[[Box], Sequence[CellBox]]
"""Asks the table structure model for the cells of the table in a box of the upright layout.

Takes about 200 ms of processor time per table. Empty if the model is missing or sees no table.
"""


def no_structure(box: Box) -> Sequence[CellBox]:
    """The result without a table structure model."""
    return ()
