"""Positions of a text's parts on its page."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from carrel.wire.libraries import PageBox
from carrel.wire.ocr import Box, Page


@dataclass(frozen=True)
class TextPlaces:
    """Parts of a text with their boxes: first character, end, four edges.

    Edges are left, top, right and bottom in pixels of a page of `width` and `height` pixels.
    """

    width: int
    height: int
    parts: Sequence[Sequence[int]]

    @classmethod
    def from_json(cls, value: Any) -> Self | None:
        """Parse the result of `as_json`."""
        return None if value is None else cls(**value)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON that is stored in the database."""
        return asdict(self)

    def within(self, start: int, end: int) -> "TextPlaces | None":
        """Return the layout of a span of the text, or None where unknown."""
        parts = [
            (max(first, start) - start, min(last, end) - start, *edges)
            for first, last, *edges in self.parts
            if first < end and last > start
        ]
        return TextPlaces(self.width, self.height, parts) if parts else None

    def box(self, spans: Iterable[tuple[int, int]]) -> PageBox | None:
        """Return the box around the parts that overlap these spans."""
        spans = list(spans)
        edges = [
            edges
            for first, last, *edges in self.parts
            if any(first < end and last > start for start, end in spans)
        ]
        if not edges:
            return None
        left, top, right, bottom = zip(*edges, strict=True)
        return PageBox(
            top_left_x=min(left),
            top_left_y=min(top),
            bottom_right_x=max(right),
            bottom_right_y=max(bottom),
            page_width=self.width,
            page_height=self.height,
        )


def page_layout(page: Page) -> TextPlaces | None:
    """Return the positions of a page's Markdown, for pages that were read with blocks."""
    size = page.dimensions
    if not page.blocks or size is None or size.width is None or size.height is None:
        return None
    parts: list[tuple[int, ...]] = []
    end = 0
    for block in page.blocks:
        edges: list[int | None] = [getattr(block, name) for name in Box.model_fields]
        start = page.markdown.find(block.content, end) if block.content else -1
        if start >= 0 and None not in edges:
            end = start + len(block.content)
            parts.append((start, end, *(edge for edge in edges if edge is not None)))
    return TextPlaces(size.width, size.height, parts) if parts else None
