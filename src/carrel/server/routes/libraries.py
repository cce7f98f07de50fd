"""Libraries (beta), sharing, and search in a library."""

from fastapi import APIRouter, Request, Response

from carrel.server.http.openapi import EXTENSION
from carrel.server.http.preferences import prefers_existing
from carrel.server.records import libraries, shares
from carrel.server.routes.dependencies import Context, InQuery
from carrel.wire.libraries import (
    EmbeddingsChange,
    Library,
    LibraryCreate,
    LibraryEmbeddings,
    LibraryList,
    LibraryQuery,
    LibraryUpdate,
    SearchQuery,
    SearchResult,
    ShareRemoval,
    ShareRequest,
    Sharing,
    SharingList,
)

router = APIRouter(prefix="/v1/libraries")


@router.get("")
async def list_libraries(context: Context, query: InQuery[LibraryQuery]) -> LibraryList:
    return await context.read(libraries.page, query)


@router.post("", status_code=201, responses={200: {"model": Library}})
async def create_library(
    body: LibraryCreate, request: Request, response: Response, context: Context
) -> Library:
    """Add a library; with `Prefer: if-absent`, answer with the caller's own of that name."""
    model, if_absent = context.server.settings.embedding_model, prefers_existing(request)
    library, is_new = await context.server.library.create(
        context.caller, body, model, if_absent=if_absent
    )
    if not is_new:
        response.status_code = 200
    return library


@router.get("/{library_id}")
async def get_library(library_id: str, context: Context) -> Library:
    return await context.read(libraries.get, library_id)


@router.put("/{library_id}")
@router.patch("/{library_id}")
async def update_library(library_id: str, body: LibraryUpdate, context: Context) -> Library:
    return await context.write(libraries.update, library_id, body)


@router.delete("/{library_id}")
async def delete_library(library_id: str, context: Context) -> Library:
    return await context.write(libraries.delete, library_id, trash_days=context.trash_days)


@router.get("/{library_id}/search", openapi_extra=EXTENSION)
async def search_library(
    library_id: str, context: Context, query: InQuery[SearchQuery]
) -> SearchResult:
    """Find passages in a library; an extension of this server."""
    return SearchResult(
        data=[*await context.server.library.search_library(context.caller, library_id, query)]
    )


@router.get("/{library_id}/embeddings", openapi_extra=EXTENSION)
async def get_embeddings(library_id: str, context: Context) -> LibraryEmbeddings:
    """Return the embedding model of a library, and the progress of a change to another."""
    return await context.server.library.embeddings(context.caller, library_id)


@router.put("/{library_id}/embeddings", openapi_extra=EXTENSION)
async def change_embeddings(
    library_id: str, body: EmbeddingsChange, context: Context
) -> LibraryEmbeddings:
    """Embed a library anew with another model, in the background."""
    return await context.server.library.change_embeddings(context.caller, library_id, body.model)


@router.get("/{library_id}/share")
async def list_shares(library_id: str, context: Context) -> SharingList:
    return await context.read(shares.get_all, library_id)


@router.put("/{library_id}/share")
async def share_library(library_id: str, body: ShareRequest, context: Context) -> Sharing:
    return await context.write(shares.put, library_id, body)


@router.delete("/{library_id}/share")
async def unshare_library(library_id: str, body: ShareRemoval, context: Context) -> Sharing:
    return await context.write(shares.delete, library_id, body)
