"""The open document: its pages as pictures and as text, read a few at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.pages.errors import NoPicture
from carrel.store.activity.service import ActivityEntry
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import block_at, boxes, passages, rect_of
from carrel.store.documents.corrections import SavedCorrections, key_of
from carrel.store.documents.export.exports import Export, Exports
from carrel.store.documents.export.formats import ExportFormat, NamedFile
from carrel.store.documents.formatting import Heading
from carrel.store.documents.marks import TextMark, marks
from carrel.store.documents.pictures import Pictures
from carrel.store.documents.reader import OCR, DocumentReader, OCROptions, ocr_needs
from carrel.store.documents.remembered import RememberedOptions
from carrel.store.documents.state import DocumentState, OpenedDocument
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.wire.libraries import PageBox
    from carrel.wire.ocr import Page

LARGE = 20
"""Number of unread pages above which a hosted, billing service reads only on request."""
NOTHING_OPEN = Problem("Nothing is open", "", "Open a file or a document first.")


class DocumentsService(Area, Service[DocumentState]):
    def __init__(
        self, shared: Shared, remembered: RememberedOptions, corrections: SavedCorrections
    ) -> None:
        super().__init__(shared, DocumentState())
        self._reader = DocumentReader(shared.session, shared.results)
        self._remembered = remembered
        self._corrections = corrections
        self._pictures = Pictures(shared.renderer, shared.copies)
        self._exports = Exports(shared, self._reader, corrections, self._pictures, self._save)

    # Opening and reading

    @action(Policy.LATEST)
    def open(
        self,
        source: DocumentSource,
        page: int = 0,
        box: PageBox | None = None,
        options: OCROptions | None = None,
    ) -> Coroutine[Any, Any, None]:
        """Open a document at a page and a box, and begin to read uncached pages.

        The options default to the last ones of its kind. A large document at a hosted service waits
        for `read`.
        """
        self._lane("read").cancel()
        self._copies.keep(self, None)
        options = options or self._remembered.of(source.name)
        options.check()
        self.slice.put(
            DocumentState(source=source, current=max(0, page), place=rect_of(box), options=options)
        )
        return self._open(source, options)

    async def _open(self, source: DocumentSource, options: OCROptions) -> None:
        with self._set_loading():
            opened = OpenedDocument(source, await self._copies.fetch(source))
            self._copies.keep(self, opened.copy)
            corrections = await asyncio.to_thread(self._corrections.load, opened.copy.hash)
            self.slice.set(opened=opened, corrections=corrections)
            await self._count(opened)
            await self._take_kept(opened, options)
        if not self.slice.value.complete and not self.large:
            self.read()

    def recover(self) -> None:
        """Resume an opening that failed while the service was lost."""
        state = self.slice.value
        if state.error is not None and state.error.lost and state.source is not None:
            self.open(state.source, state.current)

    @property
    def large(self) -> bool:
        """Whether reading needs confirmation: many unread pages at a billing service."""
        return self._session.slice.value.hosted and self.slice.value.unread > LARGE

    def read(self) -> Handle[None]:
        """Read the unread pages, the current page first.

        A document whose download failed is opened again.
        """
        state = self.slice.value
        source, opened = state.source, state.opened
        if source is not None and opened is None:
            return self.open(source, state.current)
        if source is None or opened is None:
            return self._refuse()
        entry = self._activity.begin(
            "ocr",
            source.name,
            unit="pages",
            total=len(state.wanted) or None,
            subject=source.id,
            task=OCR,
            needs=ocr_needs(source, state.options),
        )
        return entry.follow(self._read(opened, state.options, entry), lambda: self.open(source))

    def read_again(self, options: OCROptions | None = None) -> Handle[None]:
        """Read the document with other options, or again with the same ones.

        Cached pages of other options are not read again.
        """
        state = self.slice.value
        if state.source is not None and state.opened is None:
            return self.open(state.source, state.current)
        return self._read_again(options)

    @action(Policy.LATEST, lane="read")
    def _read_again(self, options: OCROptions | None) -> Coroutine[Any, Any, None]:
        state = self.slice.value
        if state.opened is None:
            raise ProblemError(NOTHING_OPEN)
        options = options or state.options
        options.check()
        self._remembered.note(state.opened.source.name, options)
        self._remember()
        return self._begin_anew(state, state.opened, options)

    @action(Policy.RENEW)
    async def _remember(self) -> None:
        await asyncio.to_thread(self._remembered.save)

    async def _begin_anew(
        self, state: DocumentState, opened: OpenedDocument, options: OCROptions
    ) -> None:
        wanted = options.wanted_pages(state.page_count)
        if options.key() == state.options.key() and (state.complete or options == state.options):
            key = self._reader.key(opened.copy, options)
            # A page that was not read before only makes the document more complete.
            new = {*(wanted or ())} - {n for n, page in enumerate(state.pages) if page}
            if not new:
                await self._reader.results.forget(key, wanted)
        before = state.pages if any(state.pages) else state.before
        # Only a renderer knows how many pages there are, whichever are read.
        count = state.page_count if state.no_picture is None else None
        self.slice.set(
            options=options, pages=(None,) * (count or 0), page_count=count, read=0,
            wanted=frozenset(wanted or ()), annotation=None, before=before, mark=None, error=None,
        )  # fmt: skip
        await self._take_kept(opened, options)
        if not self.slice.value.complete:
            self.read()

    @instant
    def stop(self) -> None:
        """Stop reading; finished pages stay."""
        self._lane("read").cancel()

    def picture(self, page: int, width: int, part: Rect | None = None) -> Handle[bytes]:
        """Draw a page of the open document, or a part of it, as PNG of `width` pixels."""
        return self._loop.run(self._pictures.draw(self.slice.value, page, width, part))

    def word_picture(self, mark: TextMark, width: int) -> Handle[bytes | None]:
        """Draw a word of the open document as PNG of `width` pixels; None if its place on the page
        is unknown."""
        return self._loop.run(self._pictures.draw_word(self.slice.value, mark, width))

    def contents(self) -> Handle[tuple[Heading, ...]]:
        """Return the table of contents: the document's bookmarks, else the headings of the pages
        read."""
        return self._loop.run(self._pictures.contents(self.slice.value))

    # Navigation

    @instant
    def go(self, page: int) -> None:
        """Show a page; a number beyond the end shows the last."""
        self._go(page)

    @instant
    def choose(self, block: int | None) -> None:
        """Choose a block of the current page, or none with None."""
        self.slice.set(block=block, place=None, mark=None)

    @instant
    def step(self, by: int) -> None:
        """Choose the next or previous block; after the last follows the next page's first."""
        state = self.slice.value
        here = _choosable(state.page)
        first = 0 if by > 0 else len(here) - 1
        at = here.index(state.block) + by if state.block in here else first
        if 0 <= at < len(here):
            self.slice.set(block=here[at], place=None, mark=None)
            return
        page = state.current + (1 if by > 0 else -1)
        if 0 <= page < (state.page_count or 0):
            self._go(page)
            there = _choosable(self.slice.value.page)
            if there:
                self.slice.set(block=there[0 if by > 0 else -1])

    @instant
    def find(self, query: str) -> None:
        """Search the read pages from the current one on; an empty query ends the search."""
        self.slice.set(query=query, mark=None)
        if query.strip():
            self._mark(1, at_first=True)

    @instant
    def next_mark(self, by: int) -> None:
        """Choose the next hit of the search, or the next doubtful word; the previous with -1."""
        self._mark(by)

    def _go(self, page: int) -> None:
        state = self.slice.value
        page = min(max(0, page), max(0, (state.page_count or 1) - 1))
        if page != state.current:
            self.slice.set(current=page, block=None, place=None, mark=None)

    def _mark(self, by: int, *, at_first: bool = False) -> None:
        state = self.slice.value
        count = len(state.pages)
        for turned in range(count + 1 if count else 0):
            number = (state.current + by * turned) % count
            page = state.pages[number]
            found = [] if page is None else [*marks(page, state.query)]
            if not turned and not at_first:
                found = _marks_from_here(found, state, by)
            if found and page is not None:
                mark = found[0 if by > 0 else -1]
                block = next(
                    (p.block for p in passages(page) if p.spans(mark.start, mark.end)), None
                )
                self.slice.set(current=number, mark=mark, block=block, place=None)
                return

    # Correcting

    @action(Policy.QUEUE)
    def correct(self, mark: TextMark, words: str) -> Coroutine[Any, Any, None]:
        """Correct a doubtful word on this machine; no words, or the words as read, undo it."""
        opened = self.slice.value.opened
        if opened is None:
            raise ProblemError(NOTHING_OPEN)
        return self._correct(opened, mark, words.strip())

    async def _correct(self, opened: OpenedDocument, mark: TextMark, words: str) -> None:
        wanted = words if words not in ("", mark.text) else None
        corrections = await asyncio.to_thread(
            self._corrections.add, opened.copy.hash, key_of(mark), wanted
        )
        if self.slice.value.opened is opened:
            self.slice.set(corrections=corrections)

    # Export

    @action(Policy.BESIDE)
    def as_files(self, format: ExportFormat) -> Coroutine[Any, Any, list[NamedFile]]:
        """Return the read pages as files."""
        return self._exports.files(self.slice.value, format)

    def save(self, format: ExportFormat, to: Path) -> Handle[tuple[Path, ...]]:
        """Write the read pages to a folder, or to a file with that name; return the paths.

        The progress is in the activity.
        """
        state = self.slice.value
        if state.source is None:
            return self._refuse()
        return self._exports.begin(Export(state.source, state, format, to.expanduser().absolute()))

    @action(Policy.QUEUE, lane="save")
    def _save(self, export: Export, entry: ActivityEntry) -> Coroutine[Any, Any, tuple[Path, ...]]:
        return self._exports.save(export, entry)

    @action(Policy.BESIDE)
    async def _refuse(self) -> Any:
        raise ProblemError(NOTHING_OPEN)

    # The reading

    async def _count(self, opened: OpenedDocument) -> None:
        try:
            count = await self._renderer.page_count(opened.copy.path)
        except NoPicture as error:
            self.slice.set(no_picture=str(error))
        else:
            last = max(0, count - 1)
            self._put({}, count, self.slice.value.annotation)
            self.slice.set(current=min(self.slice.value.current, last))

    async def _take_kept(self, opened: OpenedDocument, options: OCROptions) -> None:
        kept = await self._reader.results.load(self._reader.key(opened.copy, options))
        count = self.slice.value.page_count or kept.page_count
        asked = options.wanted_pages(None)
        if count is None and asked and kept.pages.keys() >= {*asked}:
            count = asked[-1] + 1
        self._put(kept.pages, count, kept.annotation)

    @action(Policy.LATEST, lane="read")
    async def _read(
        self, opened: OpenedDocument, options: OCROptions, entry: ActivityEntry
    ) -> None:
        await entry.secure()
        state, source = self.slice.value, opened.source
        self.slice.set(reading=True, started=time.time(), read_before=state.read, error=None)
        key = self._reader.key(opened.copy, options)
        try:
            with self._reader.results.reading(key) as reading:
                # Another reading may have been answered since the document was opened.
                await self._take_kept(opened, options)
                entry.progress(self.slice.value.read)
                if self.slice.value.page_count is None:
                    answer = await self._reader.read_whole(source, reading, options)
                    # The requested pages may not be the first.
                    count = answer.page_count or max(answer.pages, default=-1) + 1
                    self._put(answer.pages, count, answer.annotation)
                    await self._note(source, key)
                async for answer in self._reader.read(source, reading, options, self._unread):
                    self._put(answer.pages, None, answer.annotation)
                    state = self.slice.value
                    entry.progress(state.read, len(state.wanted))
                    await self._note(source, key)
        finally:
            self.slice.set(reading=False)

    async def _note(self, source: DocumentSource, key: str) -> None:
        state = self.slice.value
        read = sum(page is not None for page in state.pages)
        await self._reader.note(source, key, read, state.page_count)

    def _unread(self) -> list[int]:
        """Return the unread pages from the current page on, then the pages before it."""
        state = self.slice.value
        unread = [n for n in sorted(state.wanted) if state.pages[n] is None]
        return [n for n in unread if n >= state.current] or unread

    def _put(
        self, found: Mapping[int, Page], page_count: int | None, annotation: str | None
    ) -> None:
        """Store pages, and the page count if it is known."""
        state = self.slice.value
        count = state.page_count if page_count is None else page_count
        if count is None:
            return
        old = state.pages or (None,) * count
        pages = tuple(found.get(number, page) for number, page in enumerate(old))
        wanted = state.wanted if state.pages else frozenset(state.options.wanted_pages(count) or ())
        state = self.slice.set(
            pages=pages,
            page_count=count,
            wanted=wanted,
            read=sum(pages[number] is not None for number in wanted),
            annotation=annotation or state.annotation,
        )
        if state.place is not None and state.block is None and state.page is not None:
            self.slice.set(block=block_at(state.page, state.place))


def _choosable(page: Page | None) -> list[int | None]:
    """Return the visible blocks of a page in reading order."""
    if page is None:
        return []
    seen = {box.block for box in boxes(page)} | {passage.block for passage in passages(page)}
    return [*sorted(block for block in seen if block is not None)]


def _marks_from_here(found: list[TextMark], state: DocumentState, by: int) -> list[TextMark]:
    """Return the marks of the current page after the chosen one, or before it."""
    if state.mark is not None:
        at = state.mark.start
    else:
        starts = (
            [p.start for p in passages(state.page) if p.block == state.block] if state.page else []
        )
        at = next((start for start in starts if start is not None and state.block is not None), 0)
        at -= by > 0  # a mark right at the beginning counts
    return [mark for mark in found if (mark.start > at if by > 0 else mark.start < at)]
