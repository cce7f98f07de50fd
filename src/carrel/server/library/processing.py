"""Processing of a document: read, cut into chunks, embedded, indexed.

Reading is slow, except of plain text: it is a durable step whose pages are stored. The rest
takes milliseconds, is deterministic, and becomes searchable in one transaction.
"""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from carrel.server.blobs.store import BlobMissing, Blobs, BlobsFull, BlobsUnavailable, put
from carrel.server.errors import ApiError
from carrel.server.formats.charsets import paragraphs
from carrel.server.jobs import RunStep
from carrel.server.library.chunking import DEFAULT_SIZE, PageChunk, chunk_pages
from carrel.server.library.embedding import LibraryEmbedder
from carrel.server.library.fulltext.words import segment, vocabulary
from carrel.server.library.places import TextPlaces, page_layout
from carrel.server.models.listing import OCR_MODEL
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.reading.options import BrokenOff, ReadOptions, ReadResult, UnreadableDocument
from carrel.server.reading.processes.recogniser import OCRUnavailable
from carrel.server.records import processing
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.processing import (
    ChunkText,
    Job,
    PageRow,
    ProcessingInput,
    ProcessingOutcome,
    Superseded,
)
from carrel.server.records.sql.database import Database
from carrel.server.spans import span
from carrel.server.vision.reader import VisionReader
from carrel.text import clean_text
from carrel.wire.ocr import OCRResult, OCRUsage, Page

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

RETRY_SECONDS = (2.0, 15.0, 60.0, 300.0, 900.0)
"""Delays before each retry after a failure of the server."""
BROKEN_OFF_SECONDS = (2.0, 15.0, 60.0)
"""Delays before each retry after a crashed parser: the document may crash it again."""

_COUNT_SECONDS = 60
"""Timeout of the language model's tokenizer; the embedding model's is taken instead."""
# One of this length is searchable within a tenth of a second.
_SHORT_TEXT_BYTES = 100_000

Enqueue = Callable[..., None]
CountTokens = Callable[[str], Awaitable[int]]
EmbedLater = Callable[[sa.Connection, str], None]
"""Queues the embedding of a library's chunks within a transaction."""


class ProcessingFailed(Exception):
    """A step failed; the message is fit to be shown. `retry` has the delays of further attempts, if
    they may help."""

    def __init__(self, message: str, retry: Sequence[float] = ()) -> None:
        # Both go to the base class: the job's memory keeps exceptions by their arguments.
        super().__init__(message, retry)
        self.message = message
        self.retry = retry


@dataclass(frozen=True)
class Read:
    """The first step's result, used by the last."""

    pages: int
    ocr_blob: str | None


def _step(
    step: Callable[Concatenate["Processing", P], Awaitable[T]],
) -> Callable[Concatenate["Processing", P], Coroutine[Any, Any, T]]:
    """Return a step that turns every failure into a `ProcessingFailed`."""

    @wraps(step)
    async def run(self: "Processing", /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await step(self, *args, **kwargs)
        except Superseded:
            raise
        except UnreadableDocument as error:
            retry = BROKEN_OFF_SECONDS if isinstance(error, BrokenOff) else ()
            raise ProcessingFailed(error.message, retry) from error
        except Exception as error:
            log.exception("a document's processing failed in the step %s", step.__name__)
            raise ProcessingFailed(_reason(error), RETRY_SECONDS) from error

    return run


@dataclass(frozen=True)
class Processing:
    """Turns documents into searchable chunks, in repeatable steps."""

    _database: Database
    _blobs: Blobs
    _reader: VisionReader
    _embedder: Embedder
    _library_embedder: LibraryEmbedder
    _embed_later: EmbedLater
    _count_tokens: CountTokens
    """The language model's; when it fails, the embedder counts."""

    def run(self, job: Job, durable_step: RunStep, step: RunStep, enqueue: Enqueue) -> None:
        """Process one document, step by step, in a worker thread."""
        try:
            source = step(self.begin, job)
            if source is not None:
                step(self.index, job, durable_step(self.read, job, source))
        except Superseded:
            log.info("document %s was deleted or started anew", job.document_id)
        except ProcessingFailed as error:
            durable_step(self.give_up_or_retry, job, error, enqueue)

    @_step
    async def begin(self, job: Job) -> ProcessingInput | None:
        """Read and index a text, or return what else is to be read.

        Records that the processing has begun if it takes a while.
        """
        source = await self._database.read(processing.source, job)
        if not _is_text(source.mime_type):
            await self._database.write(processing.begin, job)
            return source
        if source.size > _SHORT_TEXT_BYTES:
            await self._database.write(processing.begin, job)
        # To read plain text again takes less than to remember that it was read.
        pages = await self._plain_pages(source)
        if pages is None:
            pages = [_page_text(page) for page in (await self._read(source)).pages]
        await self._index(job, source, pages, Read(len(pages), None), unsaved=True)
        return None

    @_step
    async def read(self, job: Job, source: ProcessingInput) -> Read:
        """Read the document's pages and store their text."""
        if source.ocr_blob is not None:
            return await self._read_again(job, source.ocr_blob)
        reading = await self._read(source)
        await self._save(job, reading.pages)
        usage = OCRUsage(pages_processed=len(reading.pages), doc_size_bytes=reading.size)
        result = OCRResult(pages=reading.pages, model=OCR_MODEL, usage_info=usage)
        return Read(reading.page_count, await put(self._blobs, result.model_dump_json().encode()))

    async def _read(self, source: ProcessingInput) -> ReadResult:
        async with self._blobs.local(source.blob) as path:
            # By their hash, pages that were read before are not read again, such as those of
            # a long scan that a crash interrupted. Another version of the reader reads anew.
            return await self._reader.read(
                path,
                mimetype=source.mime_type,
                options=ReadOptions(include_blocks=True),
                hash=source.blob,
            )

    async def _read_again(self, job: Job, ocr_blob: str) -> Read:
        """Take the pages of a restored document from its OCR result."""
        async with self._blobs.local(ocr_blob) as path:
            data = await asyncio.to_thread(path.read_bytes)
        pages = (await asyncio.to_thread(OCRResult.model_validate_json, data)).pages
        await self._save(job, pages)
        return Read(len(pages), ocr_blob)

    async def _save(self, job: Job, pages: Sequence[Page]) -> None:
        rows = [_page_text(page) for page in pages]
        await self._database.write(processing.save_pages, job, pages=rows)

    @_step
    async def index(self, job: Job, read: Read) -> None:
        """Cut the stored pages into chunks, give them vectors and make them searchable."""
        if read.ocr_blob is not None:
            # It may have been collected if hours passed between the steps: then this raises,
            # and a retry restores it.
            await self._blobs.size(read.ocr_blob)
        source = await self._database.read(processing.source, job)
        pages = await self._database.read(processing.pages, job)
        await self._index(job, source, pages, read)

    async def _plain_pages(self, source: ProcessingInput) -> list[PageRow] | None:
        """Return the page of a short text in UTF-8 without a parser, whose process takes longer."""
        if source.mime_type != "text/plain" or not 0 < source.size <= _SHORT_TEXT_BYTES:
            return None
        async with self._blobs.local(source.blob) as path:
            data = await asyncio.to_thread(path.read_bytes)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        if "\0" in text:
            # The parser looks closer: it may be UTF-16, or hide a file of another kind.
            return None
        with span("reading") as observed:
            observed.set(pages_by_text=1)
            return [PageRow(0, clean_text("\n\n".join(paragraphs(text))), None)]

    async def _index(
        self,
        job: Job,
        source: ProcessingInput,
        pages: Sequence[PageRow],
        read: Read,
        *,
        unsaved: bool = False,
    ) -> None:
        tokens = await self._tokens("\n\n".join(page.markdown for page in pages))
        chunks, words = await asyncio.to_thread(_cut, pages, source.chunk_size or DEFAULT_SIZE)
        vectors = await self._vectors(source.embedding_model, [chunk.text for chunk in chunks])
        outcome = ProcessingOutcome(
            pages=read.pages,
            tokens=tokens,
            ocr_blob=read.ocr_blob,
            chunks=chunks,
            words=words,
            vectors=vectors,
            embedding_model=source.embedding_model,
        )

        def publish(connection: sa.Connection) -> None:
            if processing.publish(connection, job, outcome, pages if unsaved else ()):
                self._embed_later(connection, source.library_id)

        await self._database.write(publish)

    async def _vectors(self, model: str, texts: Sequence[str]) -> list[StoredVector | None]:
        """Return the vectors of chunks; none while their model is away: a later job adds them."""
        try:
            return await self._library_embedder.chunks(model, texts)
        except ApiError as error:
            log.warning("a document is found by words alone for now: %s", error.message)
            return [None] * len(texts)

    async def _tokens(self, text: str) -> int:
        try:
            async with asyncio.timeout(_COUNT_SECONDS):
                return await self._count_tokens(text)
        except (ApiError, TimeoutError):
            log.warning("the language model counts no tokens: the embedding model's are taken")
        return await asyncio.to_thread(self._embedder.count_tokens, [text])

    async def give_up_or_retry(self, job: Job, error: ProcessingFailed, enqueue: Enqueue) -> None:
        """Record the failure on the document and enqueue a retry if it may help."""
        log.warning("document %s was not processed: %s", job.document_id, error.message)

        def write(connection: sa.Connection) -> None:
            failed = processing.attempts(connection, job)
            if failed >= len(error.retry):
                processing.fail(connection, job, error.message)
            else:
                processing.postpone(connection, job, error.message, error.retry[failed])
                enqueue(connection, job, delay=error.retry[failed])

        try:
            await self._database.write(write)
        except Superseded:
            log.info("document %s was deleted or started anew", job.document_id)


def _cut(pages: Sequence[PageRow], size: int) -> tuple[list[ChunkText], list[str]]:
    """Cut pages into chunks of at most `size` characters; return them and their words."""
    layouts = {page.page: TextPlaces.from_json(page.layout) for page in pages}
    chunks = [
        ChunkText(
            page=chunk.page,
            text=chunk.text,
            segmented=segment(chunk.text),
            layout=_part(layouts[chunk.page], chunk),
        )
        for chunk in chunk_pages(((page.page, page.markdown) for page in pages), size)
    ]
    return chunks, vocabulary([chunk.text for chunk in chunks])


def _page_text(page: Page) -> PageRow:
    # Offsets must hold for clients too, which drop control characters.
    page = page.model_copy(update={"markdown": clean_text(page.markdown)})
    layout = page_layout(page)
    return PageRow(page.index, page.markdown, layout.as_json() if layout else None)


def _is_text(mime_type: str | None) -> bool:
    """Return whether a file is plain text, which has no OCR result."""
    return (mime_type or "").startswith(("text/", "message/"))


def _part(layout: TextPlaces | None, chunk: PageChunk) -> dict[str, Any] | None:
    part = layout.within(chunk.start, chunk.start + len(chunk.text)) if layout else None
    return part.as_json() if part else None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The server's disk is full. Free some space, then process the document again."
    if isinstance(error, BlobsFull):
        return "The store of documents is full. Free some space there, then process it again."
    if isinstance(error, BlobMissing):
        return "The document's bytes are missing on the server. Delete it and upload it again."
    if isinstance(error, BlobsUnavailable):
        return "The store that keeps the server's documents did not answer. Process it again."
    if isinstance(error, OCRUnavailable):
        return "Text recognition does not work here; the server's log says why."
    return "The server failed while it processed the document; its log says why. Process it again."
