"""Reads documents with the built-in reader, and their pages with a vision model where one is asked.

The built-in reading always comes first: it finds the doubtful pages, stands where the model fails,
and confirms the model's words.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.server.reading.images import with_fewer_images
from carrel.server.reading.options import (
    ReadingTimeout,
    ReadOptions,
    ReadPage,
    ReadResult,
    UnreadableDocument,
)
from carrel.server.reading.processes.parsers import ParserUnavailable, ReadableDocument
from carrel.server.reading.reader import PagePicture, Reader
from carrel.server.reading.results import Results, Task
from carrel.server.settings import VisionModel
from carrel.server.spans import span
from carrel.server.vision.client import AT_ONCE, ModelRefuses, PageUnread, VisionClient
from carrel.server.vision.merge import merge, unread
from carrel.wire.ocr import Granularity, Page

log = logging.getLogger(__name__)

_METHOD = "1"
"""Changes with the prompt and the way readings are merged, so that pages are read anew."""


@dataclass(frozen=True)
class _Job:
    """The pages of one document that a model is to read."""

    model: VisionModel
    document: ReadableDocument
    options: ReadOptions
    page_count: int
    task: Task


class VisionReader:
    """Reads as `Reader` does, with a vision model for the pages that the settings name."""

    def __init__(
        self, reader: Reader, results: Results, model: Callable[[], VisionModel | None]
    ) -> None:
        """`model` returns the vision model of the current settings."""
        self._reader = reader
        self._results = results
        self._model = model

    async def stop(self) -> None:
        """Stop the built-in reader."""
        await self._reader.stop()

    @property
    def ocr_failed(self) -> bool:
        """Whether the built-in OCR did not work when it was last needed."""
        return self._reader.ocr_failed

    async def read(
        self,
        path: Path,
        *,
        mimetype: str | None,
        options: ReadOptions,
        hash: str,
        seconds: float | None = None,
        model: str | None = None,
    ) -> ReadResult:
        """Read the selected pages of a document, as `Reader.read` does, with its errors.

        A `model` that is the vision model's name has it read every page; without one, the
        settings decide.
        """
        vision = self._model()
        pages = "named" if vision is None else vision.pages
        if vision is not None and model is not None:
            pages = "all" if model == vision.name else "named"
        if vision is None or pages == "named":
            return await self._reader.read(
                path, mimetype=mimetype, options=options, hash=hash, seconds=seconds
            )
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        # The words' own confidences confirm the model's, whatever is asked for.
        granularity: Granularity | None = None if options.granularity is None else "word"
        scored = replace(options, granularity=granularity, image_limit=None)
        reading = await self._reader.read(
            path, mimetype=mimetype, options=scored, hash=hash, seconds=seconds
        )
        document = ReadableDocument(path, mimetype, hash)
        chosen = [p for p in reading.pages if pages == "all" or p.index in reading.doubted]
        beside = (vision.url, vision.name, _METHOD)
        task = Task.of(document, options, beside)
        job = _Job(vision, document, scored, reading.page_count, task)
        kept = await self._results.pages(task, [page.index for page in chosen])
        found = {read.page.index: read.page for read in kept}
        try:
            async with asyncio.timeout_at(deadline):
                await self._ask(job, [p for p in chosen if p.index not in found], found)
        except TimeoutError as error:
            done = len(reading.pages) - len(chosen) + len(found)
            raise ReadingTimeout(done, len(reading.pages)) from error
        read = [
            _without_unasked_scores(found.get(page.index, page), options) for page in reading.pages
        ]
        return replace(reading, pages=with_fewer_images(read, options.image_limit))

    async def _ask(self, job: _Job, pages: Sequence[Page], found: dict[int, Page]) -> None:
        """Add the model's reading of the pages to `found`, several at once."""
        if not pages:
            return
        client = VisionClient(job.model)
        asked = _Pages({page.index: page for page in pages})
        document = self._reader.pictures(job.document, [*asked.waiting])
        try:
            with span("vision", pages=len(pages)):
                async with asyncio.TaskGroup() as group, aclosing(document) as pictures:
                    places = asyncio.Semaphore(2 * AT_ONCE)
                    async for picture in pictures:
                        # A document may have thousands: only a few pictures are in memory.
                        await places.acquire()
                        task = group.create_task(self._read(client, job, asked, picture, found))
                        task.add_done_callback(lambda _: places.release())
        except* (UnreadableDocument, ParserUnavailable):
            log.warning("a document's pages cannot be shown to a vision model")
            for page in asked.waiting.values():
                found[page.index] = unread(page, job.model.name, "the page cannot be drawn")
        finally:
            await client.close()

    async def _read(
        self,
        client: VisionClient,
        job: _Job,
        asked: "_Pages",
        picture: PagePicture,
        found: dict[int, Page],
    ) -> None:
        """Read one page and cache it; keep the built-in reading if that fails."""
        page, name = asked.waiting.pop(picture.number), job.model.name
        try:
            if asked.refusal is not None:
                raise PageUnread(asked.refusal)
            markdown = await client.read(picture.jpeg)
            if not markdown and page.markdown.strip():
                raise PageUnread("the model's answer has no text")
        except PageUnread as error:
            if isinstance(error, ModelRefuses):
                asked.refusal = str(error)
            log.warning("%s did not read a page: %s", name, error)
            found[page.index] = unread(page, name, str(error))
            return
        read = await asyncio.to_thread(merge, page, markdown, name, job.options)
        found[page.index] = read
        await self._results.put(job.task, job.page_count, [ReadPage(read, True)])


@dataclass
class _Pages:
    """The pages queued for a model; `refusal` says why none will be read."""

    waiting: dict[int, Page]
    refusal: str | None = None


def _without_unasked_scores(page: Page, options: ReadOptions) -> Page:
    """Return the page without scores of words, if those of pages or blocks are asked for."""
    scores = page.confidence_scores
    if scores is None or options.granularity == "word":
        return page
    scores = scores.model_copy(update={"word_confidence_scores": None})
    tables = [table.model_copy(update={"word_confidence_scores": None}) for table in page.tables]
    return page.model_copy(update={"confidence_scores": scores, "tables": tables})
