"""The Document panel."""

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from html import escape
from typing import Any

from carrel.notebook.html.markdown import to_html, to_marked_html
from carrel.notebook.panels.core.base import Json, Panel, forward, intent, problem_json
from carrel.notebook.results.pictures import as_address, open_picture
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import ProblemError
from carrel.store.documents import formatting
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import boxes, missing_note, passages
from carrel.store.documents.corrections import (
    ReadWord,
    apply_corrections,
    corrected_page,
    doubtful_words,
    page_words,
)
from carrel.store.documents.export.formats import ExportFormat, zip_files
from carrel.store.documents.marks import mark_text, unmark
from carrel.store.documents.reader import OCROptions
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.state import DocumentState
from carrel.store.documents.table_rows import as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.store.session.formatting import service_words
from carrel.store.store import Store
from carrel.wire.ocr import Page

MAX_WIDTH = 3200
"""Largest width of a picture that a view may request, in pixels."""

MOST_BUTTONS = 24
"""Pages of a document that has a button for each; more would be a wall of numbers."""

STILL_WIDTH = 640
"""Width in pixels of the page in the static output."""


class DocumentPanel(Panel, view="document"):
    """The open document: a page's picture with boxes beside its text.

    With its own service it shows the document open there.
    """

    _title = "Document"

    def __init__(
        self, store: Store, documents: DocumentsService | None = None, **options: Any
    ) -> None:
        self._documents = documents or store.documents
        self._pictured: tuple[object, str] = (None, "")
        super().__init__(store, **options)
        self._follow(self._documents.slice)

    @property
    def source(self) -> DocumentSource | None:
        """The open file or document."""
        return self._documents.slice.value.source

    @property
    def selected(self) -> int | None:
        """The chosen block of the current page, from 0, or None."""
        return self._documents.slice.value.block

    def _view(self) -> Json:
        state = self._documents.slice.value
        page = state.page
        return {
            "source": None if state.source is None else state.source.id,
            "empty": "No document is open. Open one in Files or Libraries.",
            "title": formatting.title(state),
            "page": state.current,
            "page_count": state.page_count,
            "pages": [
                {"page": mark.page, "text": mark.text, "state": mark.state}
                for mark in formatting.page_marks(state, MOST_BUTTONS)
                if len(state.pages) <= MOST_BUTTONS
            ],
            "markdown": None if page is None else apply_corrections(page, state.corrections),
            "passages": [] if page is None else _passages(state, page),
            "boxes": [] if page is None else _boxes(page),
            "block": state.block,
            "block_words": formatting.chosen_block(state),
            "place": None if state.place is None else _percent(state.place),
            "query": state.query,
            "mark_words": formatting.mark_words(state),
            "tables": 0 if page is None else len(tables(page)),
            "changes": [
                {"change": line.change, "spans": [[span.text, span.change] for span in line.spans]}
                for line in formatting.changes(state)
            ],
            "annotation": formatting.annotation(state),
            "options": dataclasses.asdict(state.options),
            "option_words": formatting.option_words(state.options),
            "readers": self._store.session.slice.value.ocr_models,
            "large": self._documents.large,
            "unread": state.unread,
            "billed": service_words(self._store.session.slice.value),
            "no_text": formatting.empty_words(state),
            "confidence": formatting.score_words(page, state.corrections),
            "corrected": formatting.corrected_words(state),
            "note": formatting.readers_words(page)
            or formatting.changed_words(state)
            or state.no_picture
            or missing_note(page),
            "progress": formatting.progress(state, time.time()),
            "reading": state.reading,
            "read": state.complete,
            "has_picture": _has_picture(state),
            "no_picture": state.no_picture,
            "loading": state.loading,
            "problem": problem_json(state.error),
        }

    async def draw_still(self) -> str:
        """Return the page's picture beside its text."""
        name = escape(self.state["title"] or self._title)
        text = to_html(self.state["markdown"] or "")
        picture = await self._small_picture()
        side = f'<img alt="{name}" src="{picture}">' if picture else ""
        body = f'<div class="sides"><div>{side}</div><div>{text}</div></div>' if side else text
        return f"<p><strong>{name}</strong></p>{body}"

    async def _small_picture(self) -> str | None:
        """Return the current page as the data URL of a small JPEG."""
        state = self._documents.slice.value
        key = (state.source, state.current)
        if state.source is None or not self.state["has_picture"]:
            return None
        if self._pictured[0] != key:
            try:
                png = await self._documents.picture(state.current, STILL_WIDTH)
            except ProblemError:
                return None
            self._pictured = (key, await asyncio.to_thread(lambda: as_address(open_picture(png))))
        return self._pictured[1]

    def _loads(self) -> Sequence[Handle[Any]]:
        state = self._documents.slice.value
        if state.source is None or state.loading:
            return ()
        return (self._documents.open(state.source, state.current),)

    @property
    def _outdated(self) -> bool:
        return self._documents.slice.value.error is not None

    _on_go = forward("_documents", DocumentsService.go, "page")
    _on_choose = forward("_documents", DocumentsService.choose, "block")
    _on_step = forward("_documents", DocumentsService.step, "by")
    _on_mark = forward("_documents", DocumentsService.next_mark, "by")
    _on_find = forward("_documents", DocumentsService.find, "text")
    _on_stop = forward("_documents", DocumentsService.stop)
    _on_read = forward("_documents", DocumentsService.read, waits=False)

    @intent
    async def _on_read_again(self, options: OCROptions) -> None:
        options.check()
        await self._documents.read_again(options)

    @intent
    async def _on_picture(self, page: int, width: int) -> bytes | None:
        """Return a page as PNG for the asking view alone; never part of the state."""
        try:
            return await self._documents.picture(page, min(max(width, 100), MAX_WIDTH))
        except ProblemError:
            if self._documents.slice.value.no_picture is None:
                raise
            return None  # the state shows the reason in place of the picture

    def _words(self, every: bool) -> tuple[ReadWord, ...]:
        """Return the doubtful words of the document, or every word of its current page."""
        state = self._documents.slice.value
        if every:
            return page_words(state.page, state.corrections)
        return doubtful_words(state.pages, state.corrections)

    def _word(self, id: str) -> ReadWord:
        state = self._documents.slice.value
        page = int(id.partition("-")[0])
        read = state.pages[page] if page < len(state.pages) else None
        for word in page_words(read, state.corrections):
            if formatting.word_row(word).id == id:
                return word
        raise ProblemError("This word is gone", "The document was read again.")

    @intent
    async def _on_words(self, every: bool) -> Json:
        """Return the words to correct; the view requests their pictures one by one."""
        words = self._words(every)
        rows = [dataclasses.asdict(formatting.word_row(word)) for word in words]
        return {"title": self._words_title(every), "rows": rows}

    def _words_title(self, every: bool) -> str:
        page = self._documents.slice.value.current if every else None
        return formatting.words_title(self._words(every), page)

    @intent
    async def _on_correct(self, id: str, words: str, every: bool) -> str:
        """Correct a word; return the title of the list."""
        await self._documents.correct(self._word(id).mark, words)
        return self._words_title(every)

    @intent
    async def _on_contents(self) -> Json:
        """Return the table of contents, with pages from 0, and the entry of the current page."""
        found = await self._documents.contents()
        at = formatting.heading_at(found, self._documents.slice.value.current)
        return {"entries": [dataclasses.asdict(one) for one in found], "at": at}

    @intent
    async def _on_word_picture(self, id: str, width: int) -> bytes | None:
        """Return a word as it stands on its page, as PNG."""
        width = min(max(width, 100), MAX_WIDTH)
        return await self._documents.word_picture(self._word(id).mark, width)

    @intent
    async def _on_table(self, number: int, form: str) -> str:
        """Return a table of the current page, counted from 0, as `csv` or `markdown`."""
        state = self._documents.slice.value
        page = None if state.page is None else corrected_page(state.page, state.corrections)
        rows = () if page is None else tables(page)[number].rows
        return as_csv(rows) if form == "csv" else as_markdown(rows)

    @intent
    async def _on_export(self, form: ExportFormat) -> bytes:
        """Return the read pages as one file, or as a ZIP of several."""
        made = await self._documents.as_files(form)
        return made[0][1] if form in ("markdown", "json") else zip_files(made)


def _passages(state: DocumentState, page: Page) -> list[Json]:
    """Return the page in reading order: its Markdown, and its safe HTML with marks."""
    marks = formatting.page_hits(state)
    return [
        {
            "html": to_marked_html(mark_text(passage, marks, state.mark)),
            "raw": unmark(mark_text(passage, marks, None)),
            "block": passage.block,
        }
        for passage in passages(page)
    ]


def _boxes(page: Page) -> list[Json]:
    return [
        {
            "block": box.block,
            "words": box.words,
            "doubtful": box.doubtful,
            "box": _percent(box.rect),
        }
        for box in boxes(page)
    ]


def _percent(rect: Rect) -> list[float]:
    """Return left, top, width and height in percent of the page."""
    return [round(100 * part, 3) for part in (rect.left, rect.top, rect.width, rect.height)]


def _has_picture(state: DocumentState) -> bool:
    # Until its pages are counted, a file may be of a kind without pages.
    counted = state.picture_path is not None and state.page_count is not None
    return counted and state.no_picture is None
