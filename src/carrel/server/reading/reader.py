"""Reads documents: gives each a parser, relays its OCR requests and collects the pages."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from carrel.server.processes.child import Child
from carrel.server.processes.limits import COPIES_READ
from carrel.server.processes.pipes import BrokenMessage, PipeMessage
from carrel.server.reading.images import with_fewer_images
from carrel.server.reading.options import (
    BrokenOff,
    NoSuchPage,
    ReadingTimeout,
    ReadOptions,
    ReadPage,
    ReadResult,
    UnreadableDocument,
    select_pages,
)
from carrel.server.reading.processes.parsers import Parsers, ReadableDocument
from carrel.server.reading.processes.recogniser import Recogniser
from carrel.server.reading.results import Results, Task
from carrel.server.spans import FAILED_STEP, span
from carrel.wire.ocr import Page

log = logging.getLogger(__name__)

SILENCE_SECONDS = 90
"""Time-out of a silent parser; time spent on OCR does not count."""
_CAUSES = 1000
"""Most causes of failed steps that are logged: a parser that was taken over may invent some."""
_SAVE_SECONDS = 1.0
"""Interval between saves to the page cache during a read: a cancelled read loses few pages."""


class PagePicture(NamedTuple):
    """A page (from 0) as JPEG."""

    number: int
    jpeg: bytes


class _ParserLost(BrokenOff):
    """A parser ended through no fault of the document."""


class Reader:
    """Reads documents of every supported kind. One per server; call `stop` at its end."""

    def __init__(self, results: Results | None = None) -> None:
        """`results` caches the pages read; without one, nothing is cached."""
        self._recogniser = Recogniser()
        self._parsers = Parsers()
        self._results = results or Results(Path(), lambda: 0)
        self._logged: set[str] = set()
        """Causes of failed steps that the log has."""

    async def stop(self) -> None:
        """End every idle process. Cancel the reads in progress before you call it."""
        await self._recogniser.stop()
        await self._parsers.stop()

    @property
    def ocr_failed(self) -> bool:
        """Whether OCR did not work when it was last needed."""
        return self._recogniser.failed

    async def read(
        self,
        path: Path,
        *,
        mimetype: str | None,
        options: ReadOptions,
        hash: str | None = None,
        seconds: float | None = None,
    ) -> ReadResult:
        """Read the selected pages of a document. Cancelling stops the work at once.

        The kind is detected from the content; `mimetype` decides if that is ambiguous. With the
        `hash` of its bytes (SHA-256), pages are cached, and a document stays open for a while if
        only some of its pages were requested. `seconds` is the time limit, None for no limit.

        Raises:
            ReadingTimeout: it took longer; the pages read until then are cached.
            UnreadableDocument: it is damaged, protected, hostile or of an unknown kind.
            NoSuchPage: a selected page is beyond the end.
            OCRUnavailable: a page needs OCR, which does not work.
            ParserUnavailable: nothing can be read.
        """
        document = ReadableDocument(path, mimetype, hash)
        task = Task.of(document, options)
        size = (await asyncio.to_thread(path.stat)).st_size
        try:
            async with asyncio.timeout(seconds):
                page_count, pages = await self._recall(document, options, task)
        except TimeoutError as error:
            known = await self._results.known(task)
            selected = select_pages(options, max(known.values())) if known else []
            raise ReadingTimeout(len(known.keys() & selected), len(selected)) from error
        return ReadResult(
            pages=with_fewer_images([read.page for read in pages], options.image_limit),
            page_count=page_count,
            size=size,
            ocr_used=any(read.ocr_used for read in pages),
            doubted=frozenset(read.page.index for read in pages if read.doubted),
        )

    async def _recall(
        self, document: ReadableDocument, options: ReadOptions, task: Task
    ) -> tuple[int, list[ReadPage]]:
        """Take cached pages from the cache and read the others."""
        counts = (await self._results.known(task)).values()
        if not counts:
            return await self._read(document, options, task)
        selected = select_pages(options, page_count := max(counts))
        known = {read.page.index: read for read in await self._results.pages(task, selected)}
        missing = [range(index, index + 1) for index in selected if index not in known]
        if missing:
            _, pages = await self._read(document, replace(options, pages=missing), task)
            known |= {read.page.index: read for read in pages}
        return page_count, [known[index] for index in selected]

    async def _read(
        self, document: ReadableDocument, options: ReadOptions, task: Task
    ) -> tuple[int, list[ReadPage]]:
        """Read the page count and the selected pages, and cache them under `task`."""
        with span("reading") as observed:
            page_count, pages = await self._read_patiently(document, options, task)
            by_ocr = sum(read.ocr_used for read in pages)
            observed.set(pages_by_ocr=by_ocr, pages_by_text=len(pages) - by_ocr)
            failed = Counter(step for read in pages for step in read.failed)
            observed.set(**{FAILED_STEP + step: count for step, count in failed.items()})
        return page_count, pages

    async def _read_patiently(
        self, document: ReadableDocument, options: ReadOptions, task: Task
    ) -> tuple[int, list[ReadPage]]:
        """Retry once if the first attempt failed through no fault of the document."""
        ahead = options.pages is not None and document.hash is not None
        try:
            return await self._attempt(document, options, task, ahead=ahead)
        except _ParserLost:
            return await self._attempt(document, options, task, ahead=ahead)
        except BrokenOff:
            if options.pages is None:
                raise
            # A page outside the selection may have ended the parser: retry without prefetch.
            return await self._attempt(document, options, task, ahead=False, beyond=False)

    async def _attempt(
        self,
        document: ReadableDocument,
        options: ReadOptions,
        task: Task,
        *,
        ahead: bool,
        beyond: bool = True,
    ) -> tuple[int, list[ReadPage]]:
        page_count, pages = 0, list[ReadPage]()
        saved, saved_at = 0, time.monotonic()
        try:
            async with aclosing(self._answers(document, options, ahead, beyond)) as answers:
                async for answer in answers:
                    if isinstance(answer, int):
                        page_count = answer
                        continue
                    pages.append(answer)
                    if time.monotonic() - saved_at > _SAVE_SECONDS:
                        await self._results.put(task, page_count, pages[saved:])
                        saved, saved_at = len(pages), time.monotonic()
        finally:
            # Also of a reading that is cancelled or fails.
            await self._results.put(task, page_count, pages[saved:])
        return page_count, pages

    async def _answers(
        self, document: ReadableDocument, options: ReadOptions, ahead: bool, beyond: bool
    ) -> AsyncGenerator[int | ReadPage]:
        """Yield the page count, then the selected pages.

        `ahead` keeps the document open and prefetches the next pages. Without `beyond`, only the
        selected pages are looked at.
        """
        request = {"options": options.as_json(), "ahead": ahead, "beyond": beyond}
        async with self._asked(document, request, keep_open=ahead) as child:
            try:
                async for answer in self._converse(child):
                    yield answer
            except (ConnectionError, BrokenMessage, ValidationError) as error:
                log.warning("a parser broke off: %s", type(error).__name__)
                raise BrokenOff from error
            except TimeoutError as error:
                raise UnreadableDocument(
                    "This document takes too long to read. Ask for fewer pages, or simplify it."
                ) from error

    @asynccontextmanager
    async def _asked(
        self, document: ReadableDocument, request: dict[str, Any], *, keep_open: bool
    ) -> AsyncIterator[Child]:
        """Lease a parser for a document and send it a request."""
        async with self._parsers.parser(document, keep_open=keep_open) as (child, opened):
            if not opened:
                request |= {"path": str(document.path), "mimetype": document.mimetype}
            try:
                await child.send(PipeMessage(request))
            except ConnectionError as error:
                log.warning("a parser had ended: %s", child.ending)
                raise _ParserLost from error
            yield child

    async def pictures(
        self, document: ReadableDocument, pages: Sequence[int]
    ) -> AsyncGenerator[PagePicture]:
        """Yield the pages (from 0) of a document as JPEG, none of an office document.

        Raises:
            UnreadableDocument: it is damaged.
            ParserUnavailable: nothing can be read.
        """
        async with self._asked(document, {"pictures": [*pages]}, keep_open=False) as child:
            try:
                while message := await self._receive(child):
                    if "done" in message.header:
                        return
                    if "picture" not in message.header:
                        raise _refusal(message.header)
                    yield PagePicture(message.header["picture"], message.body)
            except (ConnectionError, BrokenMessage, TimeoutError) as error:
                raise BrokenOff from error
        raise BrokenOff

    async def _receive(self, child: Child) -> PipeMessage | None:
        async with asyncio.timeout(SILENCE_SECONDS):
            return await child.receive()

    def _log_once(self, failure: Sequence[str]) -> str:
        """Log a failed step once per cause; return the step."""
        step, cause, trace = failure
        if cause not in self._logged and len(self._logged) < _CAUSES:
            self._logged.add(cause)
            log.warning("a step of reading failed and was left out: %s: %s", step, trace)
        return step

    async def _converse(self, child: Child) -> AsyncIterator[int | ReadPage]:
        while True:
            message = await self._receive(child)
            if message is None:
                # With fork, a document can only end its copy: a killed parser is not its fault.
                if COPIES_READ and await child.was_killed():
                    log.warning("a parser was killed: %s", child.ending)
                    raise _ParserLost
                log.warning("a document ended its parser: %s", child.ending)
                raise BrokenOff
            header = message.header
            if "ocr" in header:
                failed = tuple(map(self._log_once, header["failures"]))
                page = Page.model_validate_json(message.body)
                yield ReadPage(page, header["ocr"], header["doubted"], failed)
            elif "page_count" in header:
                yield header["page_count"]
            elif "look" in header:
                size = header["width"], header["height"]
                answer = await self._recogniser.look(*size, message.body)
                await child.send(PipeMessage(answer))
            elif "done" in header:
                return
            else:
                raise _refusal(header)


def _refusal(header: dict[str, object]) -> UnreadableDocument:
    if "trace" in header:
        log.warning("a document cannot be read: %s", header["trace"])
    kind = NoSuchPage if header.get("beyond") else UnreadableDocument
    return kind(str(header.get("error", "This document cannot be read.")))
