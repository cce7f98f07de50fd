"""Signed addresses: the bytes they name, for whoever holds them."""

from functools import partial

from fastapi import APIRouter, Response

from carrel.server.bytes_response import blob_response
from carrel.server.errors import ApiError
from carrel.server.records import files
from carrel.server.routes.dependencies import CurrentServer
from carrel.server.signing import PREFIX, BadSignature

router = APIRouter(prefix=PREFIX.rstrip("/"))

_GONE = "This address does not work, or no longer. Ask for a new one."


@router.api_route("/{token}", methods=["GET", "HEAD"])
async def read_signed(token: str, server: CurrentServer) -> Response:
    try:
        signed = server.signer.verify(token)
    except BadSignature:
        raise ApiError(403, _GONE, "authentication_error") from None
    stored = await server.database.read(partial(files.get_signed, id=signed.id))
    if stored is None:
        raise ApiError(404, _GONE)
    return blob_response(
        server.blobs, stored.blob, filename=stored.file.filename, mimetype=stored.mimetype
    )
