"""Signed addresses: the bytes they name, for whoever holds them."""

from functools import partial

from fastapi import APIRouter, Response

from carrel.server.bytes_response import SAFE_HEADERS, blob_response
from carrel.server.errors import ApiError
from carrel.server.parts import Server
from carrel.server.records import documents, files
from carrel.server.routes.dependencies import CurrentServer
from carrel.server.signing import PREFIX, BadSignature

router = APIRouter(prefix=PREFIX.rstrip("/"))

_OCTETS = "application/octet-stream"
_GONE = "This address does not work, or no longer. Ask for a new one."


@router.api_route("/{token}", methods=["GET", "HEAD"])
async def read_signed(token: str, server: CurrentServer) -> Response:
    try:
        signed = server.signer.verify(token)
    except BadSignature:
        raise ApiError(403, _GONE, "authentication_error") from None
    if signed.kind == "file":
        answer = await _file(server, signed.id)
    else:
        answer = await _document(server, signed.id, text=signed.kind == "text")
    if answer is None:
        raise ApiError(404, _GONE)
    return answer


async def _file(server: Server, id: str) -> Response | None:
    stored = await server.database.read(partial(files.get_signed, id=id))
    if stored is None:
        return None
    return blob_response(
        server.blobs, stored.blob, filename=stored.file.filename, mimetype=stored.mimetype
    )


async def _document(server: Server, id: str, *, text: bool) -> Response | None:
    """A document's bytes; or its text, which is the OCR result where there is one."""
    stored = await server.database.read(partial(documents.get_signed, id=id))
    if stored is None:
        return None
    name, kind = stored.document.name, stored.document.mime_type
    if not text:
        return blob_response(server.blobs, stored.blob, filename=name, mimetype=kind or _OCTETS)
    if stored.ocr_blob is not None:
        filename = f"{name}.json"
        return blob_response(
            server.blobs, stored.ocr_blob, filename=filename, mimetype="application/json"
        )
    markdown = await server.database.read(partial(documents.text, stored=stored))
    return Response(markdown, headers=SAFE_HEADERS, media_type="text/plain; charset=utf-8")
