"""A page's blocks, and rectangles on a page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from carrel.wire.ocr import Block, Page


T = TypeVar("T")
REMEMBERED = 64
"""Number of pages whose blocks are kept."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on a page from its top left corner, in fractions of the page's width and
    height."""

    left: float
    top: float
    width: float
    height: float

    def overlap_area(self, other: Rect) -> float:
        """Return the overlap of two rectangles as a fraction of the page."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)


def per_page(function: Callable[[Page], T]) -> Callable[[Page], T]:
    """Cache a function's results by page, which is immutable."""
    known: OrderedDict[int, tuple[Page, T]] = OrderedDict()

    @wraps(function)
    def remember(page: Page) -> T:
        if id(page) not in known:
            known[id(page)] = (page, function(page))  # hold the page, so that its id is not reused
            if len(known) > REMEMBERED:
                known.popitem(last=False)
        return known[id(page)][1]

    return remember


@per_page
def blocks_of(page: Page) -> tuple[Block, ...]:
    """Return the page's blocks, or its pictures if the service gives no blocks."""
    from carrel.wire.ocr import Block

    if page.blocks:
        return tuple(page.blocks)
    return tuple(
        Block(
            type="image",
            content=f"![{image.id}]({image.id})",
            image_id=image.id,
            top_left_x=image.top_left_x,
            top_left_y=image.top_left_y,
            bottom_right_x=image.bottom_right_x,
            bottom_right_y=image.bottom_right_y,
        )
        for image in page.images
    )
