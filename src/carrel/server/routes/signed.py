"""Signed addresses: downloads without a key."""

from collections.abc import Awaitable, Callable

import sqlalchemy as sa
from fastapi import APIRouter, Response

from carrel.server.assembly import Server
from carrel.server.datadir.signing import PREFIX, BadSignature, Kind
from carrel.server.errors import ApiError
from carrel.server.http.openapi import binary
from carrel.server.records import documents, files
from carrel.server.records.documents import StoredDocument
from carrel.server.routes.dependencies import CurrentServer
from carrel.server.transfer.downloads import download, text_response

router = APIRouter(prefix=PREFIX.rstrip("/"))

_GONE = "This address does not work, or no longer. Ask for a new one."


@router.get("/{token}", response_class=Response, responses=binary("*/*"))
@router.head("/{token}", response_class=Response, responses=binary("*/*"))
async def read_signed(token: str, server: CurrentServer) -> Response:
    try:
        signed = server.signer.verify(token)
    except BadSignature:
        raise ApiError(403, _GONE, "authentication_error") from None
    answer = await _ANSWERS[signed.kind](server, signed.id)
    if answer is None:
        raise ApiError(404, _GONE)
    return answer


async def _file(server: Server, id: str) -> Response | None:
    stored = await server.database.read(files.get_signed, id)
    if stored is None:
        return None
    return await server.blobs.answer(stored.blob, download(stored.file.filename, stored.mimetype))


async def _document(server: Server, id: str) -> Response | None:
    stored = await server.database.read(documents.get_signed, id)
    if stored is None:
        return None
    document = stored.document
    return await server.blobs.answer(stored.blob, download(document.name, document.mime_type))


async def _text(server: Server, id: str) -> Response | None:
    """Return the OCR result of a document that was recognised, the text of any other."""

    def read(connection: sa.Connection) -> tuple[StoredDocument, str] | None:
        stored = documents.get_signed(connection, id)
        if stored is None or stored.generation is None:
            return None
        return stored, "" if stored.ocr_blob else "\n\n".join(documents.pages(connection, stored))

    found = await server.database.read(read)
    if found is None:
        return None
    stored, text = found
    name = stored.document.name
    if stored.ocr_blob:
        return await server.blobs.answer(
            stored.ocr_blob, download(f"{name}.json", "application/json")
        )
    return text_response(text, filename=f"{name}.md")


_ANSWERS: dict[Kind, Callable[[Server, str], Awaitable[Response | None]]] = {
    "file": _file,
    "document": _document,
    "text": _text,
}
