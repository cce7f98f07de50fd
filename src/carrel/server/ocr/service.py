"""OCR: a document by file, address or data URL in, its pages out."""

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import httpx

from carrel.server.blobs.store import Blobs
from carrel.server.datadir.signing import PREFIX, BadSignature, Signer
from carrel.server.errors import ApiError
from carrel.server.formats.mimetypes import sniff
from carrel.server.models.engine import Engine, invalid_model
from carrel.server.models.listing import OCR_MODEL, ocr_cards
from carrel.server.models.names import is_ocr_name
from carrel.server.models.schemas.annotations import annotate, check_formats
from carrel.server.reading.options import (
    NoSuchPage,
    ReadingTimeout,
    ReadOptions,
    UnreadableDocument,
)
from carrel.server.reading.processes.parsers import ParserUnavailable
from carrel.server.reading.processes.recogniser import OCRUnavailable
from carrel.server.records import documents, files
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.database import Database
from carrel.server.settings import ServerSettings
from carrel.server.transfer.fetch import Fetcher
from carrel.server.transfer.fetched import FetchedDocuments
from carrel.server.vision.reader import VisionReader
from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk
from carrel.wire.ocr import OCRRequest, OCRResult, OCRUsage

log = logging.getLogger(__name__)

_PICTURE_BYTES = 20 * 1024 * 1024
"""Largest picture that a model is shown."""


class DocumentFile(NamedTuple):
    """A document to read: its file, its SHA-256, and its name as sent."""

    path: Path
    hash: str
    name: str


@dataclass(frozen=True)
class OCRService:
    """Finds the documents that requests name, and reads them.

    `_settings` and `_engine` return those in force: both may change while the server runs.
    """

    _database: Database
    _blobs: Blobs
    _signer: Signer
    _fetched: FetchedDocuments
    _reader: VisionReader
    _settings: Callable[[], ServerSettings]
    _engine: Callable[[], Engine]

    async def text(
        self,
        chunk: DocumentURLChunk | FileChunk | ImageURLChunk,
        caller: Caller,
        page_limit: int | None,
    ) -> str:
        """Return a document's Markdown, of `page_limit` pages at most, or a picture's data URL.

        Raises:
            ApiError: it cannot be found, fetched or read.
        """
        request = OCRRequest(model=None, document=chunk)
        if isinstance(chunk, ImageURLChunk):
            return await self.picture(request, caller)
        result = await self.recognise(request, caller, self._settings().limits.ocr_seconds)
        return "\n\n".join(page.markdown for page in result.pages[:page_limit])

    async def recognise(self, body: OCRRequest, caller: Caller, seconds: float) -> OCRResult:
        """Read the document that a request names, in `seconds` at most.

        Raises:
            ApiError: it cannot be found, fetched or read, or takes longer.
        """
        check_formats(body)
        self._check_model(body.model)
        options = ReadOptions.of(body, page_limit=self._settings().limits.ocr_pages)
        if body.bbox_annotation_format is not None:
            options = replace(options, include_image_base64=True)
        async with self._source(body, caller) as source:
            kind = await asyncio.to_thread(sniff, source.path, source.name)
            try:
                reading = await self._reader.read(
                    source.path,
                    mimetype=kind.mimetype,
                    options=options,
                    hash=source.hash,
                    seconds=seconds,
                    model=self._reader_named(body.model),
                )
            except ReadingTimeout as timeout:
                raise _timeout_error(timeout, seconds) from timeout
            except NoSuchPage as error:
                raise ApiError(400, error.message, param="pages") from error
            except UnreadableDocument as error:
                raise ApiError(
                    400, error.message, "document_parser_invalid_file", error.code
                ) from error
            except (OCRUnavailable, ParserUnavailable) as error:
                log.error("a document could not be read: %s", error)
                raise ApiError(
                    503, "Documents cannot be read here. The server's log says why."
                ) from error
        result = OCRResult(
            pages=reading.pages,
            model=body.model or OCR_MODEL,
            usage_info=OCRUsage(pages_processed=len(reading.pages), doc_size_bytes=reading.size),
        )
        return await annotate(result, body, self._engine(), caller.organisation_id)

    def _check_model(self, model: str | None) -> None:
        """Refuse a model that is neither a reader nor a vendor's name of an OCR model."""
        cards = ocr_cards(self._settings().vision, strict=True)
        if model is None or any(card.id == model for card in cards):
            return
        if self._settings().strict_models or not is_ocr_name(model):
            raise invalid_model(model, cards)

    def _reader_named(self, model: str | None) -> str | None:
        """Return the reader that a request names, or None for another name, such as a vendor's."""
        vision = self._settings().vision
        return model if model == OCR_MODEL or (vision and model == vision.name) else None

    async def picture(self, body: OCRRequest, caller: Caller) -> str:
        """Return the picture that a request names, as a data URL.

        Raises:
            ApiError: it cannot be found or fetched, is not a picture, or is too large.
        """
        async with self._source(body, caller) as source:
            kind = await asyncio.to_thread(sniff, source.path, source.name)
            if not kind.mimetype.startswith("image/"):
                raise ApiError(400, "An image_url leads to something that is no picture.")
            if source.path.stat().st_size > _PICTURE_BYTES:
                raise ApiError(413, "A picture is larger than the 20 MiB that a model is shown.")
            data = await asyncio.to_thread(source.path.read_bytes)
        return f"data:{kind.mimetype};base64,{base64.b64encode(data).decode()}"

    @asynccontextmanager
    async def _source(self, body: OCRRequest, caller: Caller) -> AsyncIterator[DocumentFile]:
        """Resolve the document that a request names."""
        document = body.document
        if isinstance(document, FileChunk):
            stored = await self._database.read(files.get, caller, document.file_id)
            async with self._open_stored(stored.blob, stored.file.filename) as source:
                yield source
            return
        url = document.document_url if isinstance(document, DocumentURLChunk) else document.url
        own = await self._open_signed(url)
        if own is not None:
            async with self._open_stored(*own) as source:
                yield source
            return
        name = document.document_name if isinstance(document, DocumentURLChunk) else None
        fetcher = Fetcher(self._settings().limits.bytes_to_read)
        async with self._fetched.document(url, fetcher) as fetched:
            yield DocumentFile(fetched.path, fetched.hash, name or _last_part(url))

    async def _open_signed(self, url: str) -> tuple[str, str] | None:
        """Return the blob behind one of this server's own signed addresses, and its name.

        Resolved without a connection: the address may lead to a private network.
        """
        if opened := self._blobs.verify_url(url):
            return opened
        _, separator, token = url.partition(PREFIX)
        if not separator or url[:5].lower() == "data:":
            return None
        try:
            signed = self._signer.verify(token)
        except BadSignature:
            return None
        if signed.kind == "file":
            file = await self._database.read(files.get_signed, signed.id)
            if file is not None:
                return file.blob, file.file.filename
        if signed.kind == "document":
            found = await self._database.read(documents.get_signed, signed.id)
            if found is not None:
                return found.blob, found.document.name
        return None

    @asynccontextmanager
    async def _open_stored(self, blob: str, name: str) -> AsyncIterator[DocumentFile]:
        limit = self._settings().limits.bytes_to_read
        if await self._blobs.size(blob) > limit:
            raise ApiError(
                413,
                f"This file is larger than the {limit // 2**20} MiB that are read."
                " Split it, or raise the limit in the server's settings.",
            )
        async with self._blobs.local(blob) as path:
            yield DocumentFile(path, blob, name)


def _timeout_error(timeout: ReadingTimeout, seconds: float) -> ApiError:
    if timeout.read:
        read = f"{timeout.read:,} of {timeout.selected:,} pages were read and are kept: ask again"
        step = f"{read} for the rest, ask for fewer with `pages`"
    else:
        step = "No page was read: ask again, ask for fewer with `pages`"
    return ApiError(
        504,
        f"The time for this answer ({seconds:g} s) is over. {step}, or upload the document to a"
        " library, where reading may take any time.",
        # A client that repeats requests goes on from the pages that are kept.
        headers={"retry-after": "1"},
    )


def _last_part(url: str) -> str:
    if url[:5].lower() == "data:":
        return ""
    return httpx.URL(url).path.rpartition("/")[2]
