"""A layout model's regions: titles, text, tables, figures."""

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


Regions = Callable[[], Sequence[ModelRegion]]
"""Asks the layout model for the page's regions, at most once.

Takes about 100 ms of processor time. Empty if the model is missing.
"""


def no_regions() -> Sequence[ModelRegion]:
    """Return no regions: the result without a layout model."""
    return ()
