"""Files: upload, list, retrieve, delete, download, signed address."""

from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request, Response

from carrel.server.http.openapi import binary, multipart
from carrel.server.records import files, quotas
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    base_url,
    fields_of,
    query_of,
)
from carrel.server.transfer.downloads import download
from carrel.server.transfer.file_record import describe
from carrel.server.transfer.uploads import receive_upload
from carrel.wire.files import (
    DeletedFile,
    File,
    FileList,
    FileQuery,
    FileUpload,
    RetrievedFile,
    SignedURL,
    SignedURLQuery,
)

router = APIRouter(prefix="/v1/files")


@router.get("")
async def list_files(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[FileQuery, Depends(query_of(FileQuery))],
) -> FileList:
    return await server.database.read(files.page, caller, query)


@router.post("", openapi_extra=multipart(FileUpload))
async def upload_file(request: Request, server: CurrentServer, caller: CurrentCaller) -> File:
    limits = server.settings.limits
    upload = await receive_upload(request, server.blobs, limit=limits.file_bytes)
    options = fields_of(FileUpload, upload.fields)
    async with server.blobs.local(upload.blob.hash) as path:
        values = await describe(upload, options, path, kept_days=limits.file_days)

    def write(connection: sa.Connection) -> File:
        file = files.insert(connection, caller, values)
        quotas.check(connection, caller, limits)
        return file

    return await server.database.write(write)


@router.get("/{file_id}")
async def retrieve_file(
    file_id: str, server: CurrentServer, caller: CurrentCaller
) -> RetrievedFile:
    stored = await server.database.read(files.get, caller, file_id)
    return RetrievedFile(**stored.file.model_dump(), deleted=False)


@router.delete("/{file_id}")
async def delete_file(file_id: str, server: CurrentServer, caller: CurrentCaller) -> DeletedFile:
    await server.database.write(
        files.delete, caller, file_id, trash_days=server.settings.limits.trash_days
    )
    return DeletedFile(id=file_id, deleted=True)


_BYTES = binary("application/octet-stream")


@router.get("/{file_id}/content", response_class=Response, responses=_BYTES)
@router.head("/{file_id}/content", response_class=Response, responses=_BYTES)
async def download_file(file_id: str, server: CurrentServer, caller: CurrentCaller) -> Response:
    stored = await server.database.read(files.get, caller, file_id)
    # Official clients take no other type here.
    return await server.blobs.answer(stored.blob, download(stored.file.filename, None))


@router.get("/{file_id}/url")
async def sign_file_url(
    file_id: str,
    request: Request,
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[SignedURLQuery, Depends(query_of(SignedURLQuery))],
) -> SignedURL:
    stored = await server.database.read(files.get, caller, file_id)
    seconds = query.expiry * 3600
    what = download(stored.file.filename, stored.mimetype)
    url = server.blobs.signed_url(stored.blob, what, seconds)
    return SignedURL(
        url=url or server.signer.url(base_url(request, server), "file", file_id, seconds)
    )
