"""OCR: a document by file, address or data URL in, its pages out."""

import asyncio
import base64
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.assembly import Server
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.preferences import seconds_waited
from carrel.server.mimetypes import sniff
from carrel.server.models.annotations import annotate, check_formats
from carrel.server.models.engine import invalid_model
from carrel.server.models.listing import OCR_MODEL, ocr_card
from carrel.server.reading.options import (
    NoSuchPage,
    ReadingTimeout,
    ReadOptions,
    UnreadableDocument,
)
from carrel.server.reading.processes.parsers import ParserUnavailable
from carrel.server.reading.processes.recogniser import OCRUnavailable
from carrel.server.records import documents, files
from carrel.server.records.caller import Caller
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.server.signing import PREFIX, BadSignature
from carrel.server.transfer.fetch import Fetcher
from carrel.wire.content import DocumentURLChunk, FileChunk
from carrel.wire.ocr import OCRRequest, OCRResult, OCRUsage

router = APIRouter(prefix="/v1/ocr")

log = logging.getLogger(__name__)

_PICTURE_BYTES = 20 * 1024 * 1024


class DocumentFile(NamedTuple):
    """A document to read: its file, its SHA-256, and its name as sent."""

    path: Path
    hash: str
    name: str


@router.post("", response_model=OCRResult)
async def process(
    body: OCRRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    try:
        seconds = seconds_waited(request, server.settings.limits.ocr_seconds)
        result = await unless_disconnected(request, recognise(body, server, caller, seconds))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    return Response(result.model_dump_json(), media_type="application/json")


async def recognise(body: OCRRequest, server: Server, caller: Caller, seconds: float) -> OCRResult:
    """Reads the document that a request names, in `seconds` at most.

    Raises:
        ApiError: it cannot be found, fetched or read, or takes longer.
    """
    check_formats(body)
    if server.settings.strict_models and body.model not in (None, OCR_MODEL):
        raise invalid_model(body.model, [ocr_card(strict=True)])
    options = ReadOptions.of(body, page_limit=server.settings.limits.ocr_pages)
    if body.bbox_annotation_format is not None:
        options = replace(options, include_image_base64=True)
    async with _source(body, server, caller) as source:
        kind = await asyncio.to_thread(sniff, source.path, source.name)
        try:
            reading = await server.reader.read(
                source.path,
                mimetype=kind.mimetype,
                options=options,
                hash=source.hash,
                seconds=seconds,
            )
        except ReadingTimeout as timeout:
            raise _too_slow(timeout, seconds) from None
        except NoSuchPage as error:
            raise ApiError(400, error.message, param="pages") from None
        except UnreadableDocument as error:
            raise ApiError(400, error.message, "document_parser_invalid_file", error.code) from None
        except (OCRUnavailable, ParserUnavailable) as error:
            log.error("a document could not be read: %s", error)
            raise ApiError(
                503, "Documents cannot be read here. The server's log says why."
            ) from None
    result = OCRResult(
        pages=reading.pages,
        model=body.model or OCR_MODEL,
        usage_info=OCRUsage(pages_processed=len(reading.pages), doc_size_bytes=reading.size),
    )
    return await annotate(result, body, server.engine)


def _too_slow(timeout: ReadingTimeout, seconds: float) -> ApiError:
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


async def picture(body: OCRRequest, server: Server, caller: Caller) -> str:
    """The picture that a request names, as a data URL.

    Raises:
        ApiError: it cannot be found or fetched, is none, or is too large.
    """
    async with _source(body, server, caller) as source:
        kind = await asyncio.to_thread(sniff, source.path, source.name)
        if not kind.mimetype.startswith("image/"):
            raise ApiError(400, "An image_url leads to something that is no picture.")
        if source.path.stat().st_size > _PICTURE_BYTES:
            raise ApiError(413, "A picture is larger than the 20 MiB that a model is shown.")
        data = await asyncio.to_thread(source.path.read_bytes)
    return f"data:{kind.mimetype};base64,{base64.b64encode(data).decode()}"


@asynccontextmanager
async def _source(body: OCRRequest, server: Server, caller: Caller) -> AsyncIterator[DocumentFile]:
    """The document a request names."""
    document = body.document
    if isinstance(document, FileChunk):
        stored = await server.database.read(partial(files.get, caller=caller, id=document.file_id))
        async with _stored(server, stored.blob, stored.file.filename) as source:
            yield source
        return
    url = document.document_url if isinstance(document, DocumentURLChunk) else document.url
    own = await _own(url, server)
    if own is not None:
        async with _stored(server, *own) as source:
            yield source
        return
    name = document.document_name if isinstance(document, DocumentURLChunk) else None
    fetcher = Fetcher(server.settings.limits.bytes_to_read)
    async with server.fetched.document(url, fetcher) as fetched:
        yield DocumentFile(fetched.path, fetched.hash, name or _last_part(url))


async def _own(url: str, server: Server) -> tuple[str, str] | None:
    """The blob behind one of this server's own signed addresses, and its name.

    Resolved without a connection: the address may lead to a private network.
    """
    if opened := server.blobs.opened(url):
        return opened
    _, separator, token = url.partition(PREFIX)
    if not separator or url[:5].lower() == "data:":
        return None
    try:
        signed = server.signer.verify(token)
    except BadSignature:
        return None
    if signed.kind == "file":
        file = await server.database.read(partial(files.get_signed, id=signed.id))
        if file is not None:
            return file.blob, file.file.filename
    if signed.kind == "document":
        found = await server.database.read(partial(documents.get_signed, id=signed.id))
        if found is not None:
            return found.blob, found.document.name
    return None


@asynccontextmanager
async def _stored(server: Server, blob: str, name: str) -> AsyncIterator[DocumentFile]:
    limit = server.settings.limits.bytes_to_read
    if await server.blobs.size(blob) > limit:
        raise ApiError(
            413,
            f"This file is larger than the {limit // 2**20} MiB that are read."
            " Split it, or raise the limit in the server's settings.",
        )
    async with server.blobs.local(blob) as path:
        yield DocumentFile(path, blob, name)


def _last_part(url: str) -> str:
    if url[:5].lower() == "data:":
        return ""
    return httpx.URL(url).path.rpartition("/")[2]
