"""Library documents (beta): upload, status, text, signed addresses, reprocessing."""

import asyncio
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Request, Response

from carrel.server.formats.mimetypes import sniff
from carrel.server.http.openapi import multipart
from carrel.server.records import documents, libraries
from carrel.server.records.documents import NewDocument
from carrel.server.records.libraries import Role
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    base_url,
    fields_of,
    query_of,
)
from carrel.server.transfer.downloads import download
from carrel.server.transfer.uploads import receive_upload
from carrel.wire.documents import (
    NAME_HEADER,
    Document,
    DocumentList,
    DocumentQuery,
    DocumentStatus,
    DocumentUpdate,
    DocumentUpload,
    TextContent,
    TextQuery,
)

router = APIRouter(prefix="/v1/libraries/{library_id}/documents")

_NAME = "The document's name with its folders, percent-encoded (an extension)"
_SIGNED_SECONDS = 30 * 60
_ADDED = {
    "Carrel-Document": {
        "description": "Whether these bytes are new to the library (an extension)",
        "schema": {"enum": ["created", "existing"]},
    }
}


@router.get("")
async def list_documents(
    library_id: str,
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[DocumentQuery, Depends(query_of(DocumentQuery))],
) -> DocumentList:
    return await server.database.read(documents.page, caller, library_id, query)


@router.post("", openapi_extra=multipart(), responses={200: {"headers": _ADDED}})
async def upload_document(
    library_id: str,
    request: Request,
    response: Response,
    server: CurrentServer,
    caller: CurrentCaller,
    name: Annotated[str | None, Header(alias=NAME_HEADER, description=_NAME)] = None,
) -> Document:
    """Add a document, or answer the one the library already has with the same bytes."""
    wanted = fields_of(DocumentUpload, {} if name is None else {"name": unquote(name)})
    await server.database.read(libraries.get, caller, library_id, needed=Role.EDITOR)
    limits = server.settings.limits
    upload = await receive_upload(request, server.blobs, limit=limits.bytes_of_document)
    async with server.blobs.local(upload.blob.hash) as path:
        kind = await asyncio.to_thread(sniff, path, upload.filename)
    new = NewDocument(
        name=wanted.name or upload.filename,
        blob=upload.blob.hash,
        size=upload.blob.size,
        mime_type=kind.mimetype,
        extension=kind.extension,
    )
    document, created = await server.library.add(caller, library_id, new, limits)
    response.headers["Carrel-Document"] = "created" if created else "existing"
    return document


@router.get("/{document_id}")
async def get_document(
    library_id: str, document_id: str, server: CurrentServer, caller: CurrentCaller
) -> Document:
    stored = await server.database.read(documents.get, caller, library_id, document_id)
    return stored.document


@router.put("/{document_id}")
@router.patch("/{document_id}")
async def update_document(
    library_id: str,
    document_id: str,
    body: DocumentUpdate,
    server: CurrentServer,
    caller: CurrentCaller,
) -> Document:
    return await server.database.write(documents.update, caller, library_id, document_id, body)


@router.delete("/{document_id}", status_code=204, response_class=Response)
async def delete_document(
    library_id: str, document_id: str, server: CurrentServer, caller: CurrentCaller
) -> None:
    await server.database.write(
        documents.delete,
        caller,
        library_id,
        document_id,
        trash_days=server.settings.limits.trash_days,
    )


@router.get("/{document_id}/text_content")
async def get_text(
    library_id: str,
    document_id: str,
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[TextQuery, Depends(query_of(TextQuery))],
) -> TextContent:
    pages = await server.database.read(documents.page_texts, caller, library_id, document_id, query)
    return TextContent(text="\n\n".join(pages))


@router.get("/{document_id}/status")
async def get_status(
    library_id: str, document_id: str, server: CurrentServer, caller: CurrentCaller
) -> DocumentStatus:
    document = await get_document(library_id, document_id, server, caller)
    return DocumentStatus(
        document_id=document.id,
        process_status=document.process_status,
        processing_status=document.processing_status,
    )


@router.get("/{document_id}/signed-url")
async def sign_document(
    library_id: str,
    document_id: str,
    request: Request,
    server: CurrentServer,
    caller: CurrentCaller,
) -> str:
    """Return an address of the document's bytes, for half an hour, as a JSON string."""
    stored = await server.database.read(documents.get, caller, library_id, document_id)
    what = download(stored.document.name, stored.document.mime_type)
    return server.blobs.signed_url(stored.blob, what, _SIGNED_SECONDS) or server.signer.url(
        base_url(request, server), "document", document_id, _SIGNED_SECONDS
    )


@router.get("/{document_id}/extracted-text-signed-url")
async def sign_text(
    library_id: str,
    document_id: str,
    request: Request,
    server: CurrentServer,
    caller: CurrentCaller,
) -> str:
    """Return an address of the document's text, or of its OCR result, as a JSON string."""
    stored = await server.database.read(documents.with_text, caller, library_id, document_id)
    url = None
    if stored.ocr_blob:
        what = download(f"{stored.document.name}.json", "application/json")
        url = server.blobs.signed_url(stored.ocr_blob, what, _SIGNED_SECONDS)
    return url or server.signer.url(base_url(request, server), "text", document_id, _SIGNED_SECONDS)


@router.post("/{document_id}/reprocess", status_code=204, response_class=Response)
async def reprocess_document(
    library_id: str, document_id: str, server: CurrentServer, caller: CurrentCaller
) -> None:
    await server.library.reprocess(caller, library_id, document_id)
