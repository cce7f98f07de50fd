"""Pictures of the open document's pages, drawn from its copy."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.pages.errors import NoPicture
from carrel.store.cache.copies import Copies
from carrel.store.core.formatting import one_line
from carrel.store.documents.blocks import Rect
from carrel.store.documents.corrections import place_of
from carrel.store.documents.formatting import Heading, headings
from carrel.store.documents.marks import TextMark

if TYPE_CHECKING:
    from carrel.pages.renderer import Renderer
    from carrel.store.documents.state import DocumentState


class Pictures:
    def __init__(self, renderer: Renderer, copies: Copies) -> None:
        self._renderer = renderer
        self._copies = copies

    async def draw(
        self, state: DocumentState, page: int, width: int, part: Rect | None = None
    ) -> bytes:
        """Draw a page, or a part of it, as PNG of `width` pixels.

        Raises:
            NoPicture: the page cannot be drawn.
        """
        region = None if part is None else _region(part)
        return await self._renderer.render(await self._find_copy(state), page, width, region)

    async def draw_word(self, state: DocumentState, mark: TextMark, width: int) -> bytes | None:
        """Draw a word as PNG of `width` pixels; None if its place on the page is unknown.

        Raises:
            NoPicture: the page cannot be drawn.
        """
        page = state.pages[mark.page] if mark.page < len(state.pages) else None
        place = None if page is None else place_of(page, mark)
        if place is None or state.no_picture is not None:
            return None
        rect, words, at = place
        path = await self._find_copy(state)
        return await self._renderer.render_word(path, mark.page, width, _region(rect), words, at)

    async def contents(self, state: DocumentState) -> tuple[Heading, ...]:
        """Return the document's bookmarks, else the headings of the pages read."""
        if state.picture_path is not None and state.no_picture is None:
            with suppress(NoPicture):
                if marks := await self._renderer.bookmarks(state.picture_path):
                    return tuple(
                        Heading(mark.level, one_line(mark.title), mark.page) for mark in marks
                    )
        return headings(state)

    async def _find_copy(self, state: DocumentState) -> Path:
        """Return the copy to draw from, downloaded again if another workbench evicted it."""
        if state.opened is None or state.no_picture is not None:
            raise NoPicture(state.no_picture or "No document is open.")
        copy = state.opened.copy
        if not copy.path.exists():
            copy = await self._copies.fetch(state.opened.source)
        return copy.path


def _region(rect: Rect) -> tuple[float, float, float, float]:
    return rect.left, rect.top, rect.width, rect.height
