"""Reading of a document through the service, a few pages at a time."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.cache.copies import Copy, DocumentSource
from carrel.store.cache.readings import PagesRead, Readings
from carrel.store.cache.results import KeptResult, Reading, ResultCache
from carrel.store.core.problem import ProblemError
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.generation.formats import ResponseFormat
    from carrel.wire.ocr import OCRDocument, OCRRequest, OCRResult

BATCH = 4
"""Largest number of pages in a request after the first."""
BATCH_SECONDS = 2.0
"""Target duration of a batch in seconds; slower pages make smaller batches."""
HOSTED_MODEL = "mistral-ocr-latest"
"""Name of the OCR model at hosted services; the bundled server needs none."""


Tables = Literal["text", "markdown", "html"]
Scores = Literal["word", "page", "none"]


@dataclass(frozen=True, slots=True)
class OCROptions:
    """Options of a reading.

    `pages` as users write them, from 1 (`1-3, 7`), empty for all; `tables` inside the text, or
    apart as Markdown or HTML; `headers` and footers apart from the text; `pictures` in the answer;
    `schema` is the JSON schema of an annotation of the whole document; `model` reads it, empty for
    the service's default.
    """

    pages: str = ""
    tables: Tables = "text"
    headers: bool = False
    scores: Scores = "word"
    pictures: bool = False
    schema: str = ""
    model: str = ""

    def check(self) -> None:
        """Raise ProblemError if a field is invalid."""
        self.wanted_pages(None)
        self.format()

    def wanted_pages(self, page_count: int | None) -> list[int] | None:
        """Return the requested pages, from 0, within the page count.

        Returns None for all pages of an unknown number.
        """
        from carrel.wire.ocr import parse_pages

        if not self.pages.strip():
            return None if page_count is None else [*range(page_count)]
        try:
            ranges = parse_pages(self.pages.replace(" ", ""))
        except ValueError:
            ranges = None
        if not ranges or any(part.start < 1 for part in ranges):
            raise ProblemError("Pages count from 1, like 1-3, 7", self.pages)
        last = page_count or max(part.stop for part in ranges)
        found = {n - 1 for part in ranges for n in range(part.start, min(part.stop, last + 1))}
        return sorted(found)

    def format(self) -> ResponseFormat | None:
        """Return the schema in a request's form, or None."""
        from carrel.wire.generation.formats import ResponseFormat

        if not self.schema.strip():
            return None
        try:
            schema = json.loads(self.schema)
        except ValueError as error:
            raise ProblemError("The schema is not JSON", str(error)) from error
        if not isinstance(schema, dict):
            raise ProblemError(
                "The schema is not a JSON schema", advice='Begin with {"type": "object", …}.'
            )
        named = {"name": "document", "schema": schema}
        return ResponseFormat.model_validate({"type": "json_schema", "json_schema": named})

    def key(self) -> str:
        """Return the cache key of the options without the pages, which are read independently."""
        fields = asdict(self)
        if not self.schema:
            del fields["pages"]
        return json.dumps(fields, sort_keys=True)


OCR = "read a document"
"""Name of the task in the journal."""


def ocr_needs(source: DocumentSource, options: OCROptions) -> dict[str, Any]:
    """Return the arguments of the journal's task."""
    return {"source": asdict(source), "options": asdict(options)}


USUAL = OCROptions()
"""Default options: all pages, tables in the text, a score for every word."""


class DocumentReader:
    def __init__(self, session: SessionService, results: ResultCache) -> None:
        self._session = session
        self.results = results
        self._readings = Readings(session.profile)

    def key(self, copy: Copy, options: OCROptions) -> str:
        """Return the cache key of a result, made of content, options and reader."""
        return f"{copy.hash}\0{self._session.profile.storage_name}\0{options.key()}"

    async def note(self, source: DocumentSource, key: str, read: int, total: int | None) -> None:
        """Save the number of a document's read pages, for the lists of later runs."""
        if total:
            await self._readings.note(source.id, key, PagesRead(read, total))

    async def read(
        self,
        source: DocumentSource,
        reading: Reading,
        options: OCROptions,
        unread: Callable[[], Sequence[int]],
    ) -> AsyncIterator[KeptResult]:
        """Read the pages that `unread` returns, the first alone; cache every answer.

        `unread` is called before each batch, so that the page in view comes first. Pages that
        another reading was answered meanwhile are not asked for again.
        """
        size = 1
        while unread():
            async with reading.turn:
                if reading.news is None:
                    # An annotation covers all pages of a request.
                    batch = [*unread()] if options.schema else first_run(unread(), size)
                    began = time.monotonic()
                    answer = await self.ask(source, batch, options)
                    if not answer.pages.keys() & {*batch}:
                        words = f"The service did not read page {batch[0] + 1}."
                        raise ProblemError("Not read", words)
                    await self.results.add(reading.key, answer)
                    a_page = (time.monotonic() - began) / len(batch)
                    size = max(1, min(BATCH, int(BATCH_SECONDS / max(a_page, 1e-3))))
            yield reading.take()

    async def read_whole(
        self, source: DocumentSource, reading: Reading, options: OCROptions
    ) -> KeptResult:
        """Read a document of unknown length in one request, or take another reading's answer."""
        wanted = options.wanted_pages(None)
        async with reading.turn:
            if reading.news is None:
                answer = await self.ask(source, wanted, options)
                if wanted is None:
                    answer.page_count = len(answer.pages)
                await self.results.add(reading.key, answer)
        return reading.take()

    async def ask(
        self, source: DocumentSource, pages: list[int] | None, options: OCROptions
    ) -> KeptResult:
        """Request these pages, or all."""
        client = await self._session.client()
        return _as_result(await client.ocr.process(await self.request(source, pages, options)))

    async def keep(
        self, source: DocumentSource, key: str, answer: OCRResult, options: OCROptions
    ) -> None:
        """Cache the answer to a request for all wanted pages."""
        kept = _as_result(answer)
        if options.wanted_pages(None) is None:
            kept.page_count = len(kept.pages)
        await self.results.add(key, kept)
        await self.note(source, key, len(kept.pages), len(kept.pages))

    async def request(
        self, source: DocumentSource, pages: list[int] | None, options: OCROptions
    ) -> OCRRequest:
        """Return the request for these pages, or for all."""
        from carrel.wire.ocr import OCRRequest

        hosted = self._session.slice.value.hosted
        return OCRRequest(
            model=options.model or (HOSTED_MODEL if hosted else None),
            # Signed each time: a URL may expire before the last page is read.
            document=await self._document(source),
            pages=None if pages is None else [*pages],
            include_blocks=True,
            include_image_base64=options.pictures,
            confidence_scores_granularity=None if options.scores == "none" else options.scores,
            extract_header=options.headers,
            extract_footer=options.headers,
            table_format=None if options.tables == "text" else options.tables,
            document_annotation_format=options.format(),
        )

    async def _document(self, source: DocumentSource) -> OCRDocument:
        """Return the document in a reading request's form."""
        from carrel.wire.generation.content import DocumentURLChunk, FileChunk

        if source.kind == "file":
            return FileChunk(file_id=source.id)
        client = await self._session.client()
        url = await client.documents.url(source.library_id or "", source.id)
        return DocumentURLChunk(document_url=url, document_name=source.name)


def _as_result(answer: OCRResult) -> KeptResult:
    found = {page.index: page for page in answer.pages}
    return KeptResult(found, annotation=answer.document_annotation)


def first_run(pages: Sequence[int], most: int) -> list[int]:
    """Return the first run of consecutive pages, at most `most` of them."""
    return [page for place, page in enumerate(pages[:most]) if page == pages[0] + place]
