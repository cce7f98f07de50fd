"""Page pictures of an answer's passages, drawn without OCR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.pages.renderer import Renderer
from carrel.store.cache.copies import Copies, DocumentSource
from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import rect_of

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Passage

USUAL_PAGE = 2**0.5
"""Height divided by width of a page of unknown size."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a page as PNG, and the passage's box in fractions of that part."""

    png: bytes
    box: Rect | None


class Sources:
    def __init__(self, loop: OwnerLoop, copies: Copies, renderer: Renderer) -> None:
        self._loop = loop
        self._renderer = renderer
        self._copies = copies

    def excerpt(
        self, passage: Passage, width: int, height_of_width: float | None = None
    ) -> Handle[Excerpt]:
        """Draw the page of a passage, `width` pixels wide.

        `height_of_width` crops it to that aspect ratio around the passage.
        """
        return self._loop.run(self._excerpt(passage, width, height_of_width))

    async def _excerpt(
        self, passage: Passage, width: int, height_of_width: float | None
    ) -> Excerpt:
        copy = await self._copies.fetch(source_of(passage))
        box = rect_of(passage.box)
        part = None if height_of_width is None else _surroundings(passage, box, height_of_width)
        drawn = (part.left, part.top, part.width, part.height) if part else None
        png = await self._renderer.render(copy.path, passage.page or 0, width, drawn)
        return Excerpt(png, _relative_to(box, part) if box and part else box)


def source_of(passage: Passage) -> DocumentSource:
    """Return the source document of a passage."""
    return DocumentSource(
        "document", passage.document_id, passage.document_name, passage.library_id
    )


def _surroundings(passage: Passage, box: Rect | None, height_of_width: float) -> Rect | None:
    page = USUAL_PAGE
    if box and passage.box and passage.box.page_width and passage.box.page_height:
        page = passage.box.page_height / passage.box.page_width
    height = height_of_width / page
    if height >= 1:
        return None
    middle = box.top + box.height / 2 if box else 0.0
    # Show the beginning of a passage that is taller than the view.
    top = min(middle - height / 2, box.top) if box else 0.0
    return Rect(0.0, min(max(top, 0.0), 1 - height), 1.0, height)


def _relative_to(box: Rect, part: Rect) -> Rect:
    return Rect(
        (box.left - part.left) / part.width,
        (box.top - part.top) / part.height,
        box.width / part.width,
        box.height / part.height,
    )
