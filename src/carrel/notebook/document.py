"""The Document panel."""

import time
from collections.abc import Sequence
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.markdown import to_html
from carrel.notebook.panel import Cell, Json, Panel, finish, intent, problem_json
from carrel.store.documents import DocumentsService, DocumentState, Source
from carrel.store.selectors.documents import confidence, page_marks, progress, title
from carrel.store.store import Store
from carrel.wire.ocr import Block, Dimensions, Page


class DocumentPanel(Panel):
    """The open document: a page's picture with its boxes beside the text read from it.

    With a service of its own it shows the document that is open there.
    """

    _esm = module("document")
    _css = style("document")
    _title = "Document"

    def __init__(
        self, store: Store, documents: DocumentsService | None = None, **options: Any
    ) -> None:
        self._documents = documents or store.documents
        super().__init__(store, **options)
        self._follow(self._documents.slice)

    @property
    def source(self) -> Source | None:
        """Which file or document is open."""
        return self._documents.slice.value.source

    def _view(self) -> Json:
        state = self._documents.slice.value
        page = _current(state)
        return {
            "source": None if state.source is None else state.source.id,
            "empty": 'No document is open. Open one in Files, or run bench.ocr("report.pdf").',
            "title": title(state),
            "page": state.current,
            "page_count": state.page_count,
            "pages": [
                {"page": mark.page, "text": mark.text, "state": mark.state}
                for mark in page_marks(state)
            ],
            "markdown": None if page is None else page.markdown,
            "blocks": [] if page is None else _blocks(page),
            "waiting": "Reading this page …" if state.reading else "This page is not read yet.",
            "confidence": "" if page is None else confidence(page),
            "progress": progress(state, time.time()),
            "reading": state.reading,
            "read": state.page_count is not None and None not in state.pages,
            "has_picture": state.picture_path is not None and state.no_picture is None,
            "no_picture": state.no_picture,
            "loading": state.loading,
            "problem": problem_json(state.error),
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        return (self.state["title"],), [(self.state["markdown"] or "",)]

    @intent
    async def _on_go(self, page: int) -> None:
        await finish(self._documents.go(page))

    @intent
    async def _on_stop(self) -> None:
        await finish(self._documents.stop())

    @intent
    async def _on_read(self) -> None:
        self._documents.read()

    @intent
    async def _on_picture(self, page: int, width: int) -> bytes | None:
        """The page as PNG; it goes to the asking view alone and is never part of the state."""
        return await finish(self._documents.picture(page, min(max(width, 100), 2400)))


def _current(state: DocumentState) -> Page | None:
    return state.pages[state.current] if state.current < len(state.pages) else None


def _blocks(page: Page) -> list[Json]:
    """The page in reading order: safe HTML, and the box in percent of the page."""
    if not page.blocks:
        return [{"type": "text", "html": to_html(page.markdown), "box": None}]
    return [
        {"type": block.type, "html": to_html(block.content), "box": _box(block, page.dimensions)}
        for block in page.blocks
    ]


def _box(block: Block, size: Dimensions | None) -> list[float] | None:
    """Left, top, width and height in percent; None without a place on the page."""
    edges = (block.top_left_x, block.top_left_y, block.bottom_right_x, block.bottom_right_y)
    if size is None or not size.width or not size.height or None in edges:
        return None
    left, top, right, bottom = (float(edge) for edge in edges if edge is not None)
    return [
        round(100 * part, 3)
        for part in (
            left / size.width,
            top / size.height,
            (right - left) / size.width,
            (bottom - top) / size.height,
        )
    ]
