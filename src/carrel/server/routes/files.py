"""Files: upload, list, retrieve, delete, download, signed address."""

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response

from carrel.server.http.openapi import binary, multipart
from carrel.server.records import files
from carrel.server.records.accounts import quotas
from carrel.server.records.accounts.caller import Caller
from carrel.server.routes.dependencies import Context, InQuery, fields_of
from carrel.server.transfer.downloads import download
from carrel.server.transfer.file_record import describe
from carrel.server.transfer.uploads import receive_upload
from carrel.wire.files import (
    File,
    FileList,
    FileQuery,
    FileUpload,
    RetrievedFile,
    SignedURL,
    SignedURLQuery,
)
from carrel.wire.id_lists import DeletedItem

router = APIRouter(prefix="/v1/files")


@router.get("")
async def list_files(context: Context, query: InQuery[FileQuery]) -> FileList:
    return await context.read(files.page, query)


@router.post("", openapi_extra=multipart(FileUpload))
async def upload_file(request: Request, context: Context) -> File:
    limits = context.server.settings.limits
    upload = await receive_upload(request, context.server.blobs, limit=limits.file_bytes)
    options = fields_of(FileUpload, upload.fields)
    async with context.server.blobs.local(upload.blob.hash) as path:
        values = await describe(upload, options, path, kept_days=limits.file_days)

    def write(connection: sa.Connection, caller: Caller) -> File:
        file = files.insert(connection, caller, values)
        quotas.check(connection, caller, limits)
        return file

    return await context.write(write)


@router.get("/{file_id}")
async def retrieve_file(file_id: str, context: Context) -> RetrievedFile:
    stored = await context.read(files.get, file_id)
    return RetrievedFile(**stored.file.model_dump(), deleted=False)


@router.delete("/{file_id}")
async def delete_file(file_id: str, context: Context) -> DeletedItem:
    await context.write(files.delete, file_id, trash_days=context.trash_days)
    return DeletedItem(id=file_id, object="file")


_BYTES = binary("application/octet-stream")


@router.get("/{file_id}/content", response_class=Response, responses=_BYTES)
@router.head("/{file_id}/content", response_class=Response, responses=_BYTES)
async def download_file(file_id: str, context: Context) -> Response:
    stored = await context.read(files.get, file_id)
    # Official clients take no other type here.
    return await context.server.blobs.answer(stored.blob, download(stored.file.filename, None))


@router.get("/{file_id}/url")
async def sign_file_url(
    file_id: str, context: Context, query: InQuery[SignedURLQuery]
) -> SignedURL:
    stored = await context.read(files.get, file_id)
    served = download(stored.file.filename, stored.mimetype)
    return SignedURL(url=context.sign("file", file_id, stored.blob, served, query.expiry * 3600))
