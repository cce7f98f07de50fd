"""Library documents (beta): upload, status, text, signed addresses, reprocessing."""

import asyncio
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Request, Response

from carrel.server.formats.mimetypes import sniff
from carrel.server.http.openapi import multipart
from carrel.server.records import documents, libraries
from carrel.server.records.documents import NewDocument
from carrel.server.records.libraries import Role
from carrel.server.routes.dependencies import Context, InQuery, fields_of
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
"""Time that a signed address of a document holds."""
_ADDED = {
    "Carrel-Document": {
        "description": "Whether these bytes are new to the library (an extension)",
        "schema": {"enum": ["created", "existing"]},
    }
}


@router.get("")
async def list_documents(
    library_id: str, context: Context, query: InQuery[DocumentQuery]
) -> DocumentList:
    return await context.read(documents.page, library_id, query)


@router.post("", openapi_extra=multipart(), responses={200: {"headers": _ADDED}})
async def upload_document(
    library_id: str,
    request: Request,
    response: Response,
    context: Context,
    name: Annotated[str | None, Header(alias=NAME_HEADER, description=_NAME)] = None,
) -> Document:
    """Add a document, or answer the one the library already has with the same bytes."""
    wanted = fields_of(DocumentUpload, {} if name is None else {"name": unquote(name)})
    await context.read(libraries.require, library_id, needed=Role.EDITOR)
    limits = context.server.settings.limits
    upload = await receive_upload(request, context.server.blobs, limit=limits.bytes_of_document)
    async with context.server.blobs.local(upload.blob.hash) as path:
        kind = await asyncio.to_thread(sniff, path, upload.filename)
    new = NewDocument(
        name=wanted.name or upload.filename,
        blob=upload.blob.hash,
        size=upload.blob.size,
        mime_type=kind.mimetype,
        extension=kind.extension,
    )
    document, created = await context.server.library.add(context.caller, library_id, new, limits)
    response.headers["Carrel-Document"] = "created" if created else "existing"
    return document


@router.get("/{document_id}")
async def get_document(library_id: str, document_id: str, context: Context) -> Document:
    stored = await context.read(documents.get, library_id, document_id)
    return stored.document


@router.put("/{document_id}")
@router.patch("/{document_id}")
async def update_document(
    library_id: str, document_id: str, body: DocumentUpdate, context: Context
) -> Document:
    return await context.write(documents.update, library_id, document_id, body)


@router.delete("/{document_id}", status_code=204, response_class=Response)
async def delete_document(library_id: str, document_id: str, context: Context) -> None:
    await context.write(documents.delete, library_id, document_id, context.trash_days)


@router.get("/{document_id}/text_content")
async def get_text(
    library_id: str, document_id: str, context: Context, query: InQuery[TextQuery]
) -> TextContent:
    pages = await context.read(documents.page_texts, library_id, document_id, query)
    return TextContent(text="\n\n".join(pages))


@router.get("/{document_id}/status")
async def get_status(library_id: str, document_id: str, context: Context) -> DocumentStatus:
    document = await get_document(library_id, document_id, context)
    return DocumentStatus(
        document_id=document.id,
        process_status=document.process_status,
        processing_status=document.processing_status,
    )


@router.get("/{document_id}/signed-url")
async def sign_document(library_id: str, document_id: str, context: Context) -> str:
    """Return an address of the document's bytes, for half an hour, as a JSON string."""
    stored = await context.read(documents.get, library_id, document_id)
    served = download(stored.document.name, stored.document.mime_type)
    return context.sign("document", document_id, stored.blob, served, _SIGNED_SECONDS)


@router.get("/{document_id}/extracted-text-signed-url")
async def sign_text(library_id: str, document_id: str, context: Context) -> str:
    """Return an address of the document's text, or of its OCR result, as a JSON string."""
    stored = await context.read(documents.get_with_text, library_id, document_id)
    served = download(f"{stored.document.name}.json", "application/json")
    return context.sign("text", document_id, stored.ocr_blob, served, _SIGNED_SECONDS)


@router.post("/{document_id}/reprocess", status_code=204, response_class=Response)
async def reprocess_document(library_id: str, document_id: str, context: Context) -> None:
    await context.server.library.reprocess(context.caller, library_id, document_id)
