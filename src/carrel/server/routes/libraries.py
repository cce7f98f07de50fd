"""Libraries (beta), sharing, and search in a library."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from carrel.server.http.openapi import EXTENSION
from carrel.server.http.preferences import only_if_absent
from carrel.server.records import libraries, shares
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer, query_of
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
async def list_libraries(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[LibraryQuery, Depends(query_of(LibraryQuery))],
) -> LibraryList:
    return await server.database.read(libraries.page, caller, query)


@router.post("", status_code=201, responses={200: {"model": Library}})
async def create_library(
    body: LibraryCreate,
    request: Request,
    response: Response,
    server: CurrentServer,
    caller: CurrentCaller,
) -> Library:
    """Add a library; with `Prefer: if-absent`, answer with the caller's own of that name."""
    model, if_absent = server.settings.embedding_model, only_if_absent(request)
    library, is_new = await server.library.create(caller, body, model, if_absent=if_absent)
    if not is_new:
        response.status_code = 200
    return library


@router.get("/{library_id}")
async def get_library(library_id: str, server: CurrentServer, caller: CurrentCaller) -> Library:
    return await server.database.read(libraries.get, caller, library_id)


@router.put("/{library_id}")
@router.patch("/{library_id}")
async def update_library(
    library_id: str, body: LibraryUpdate, server: CurrentServer, caller: CurrentCaller
) -> Library:
    return await server.database.write(libraries.update, caller, library_id, body)


@router.delete("/{library_id}")
async def delete_library(library_id: str, server: CurrentServer, caller: CurrentCaller) -> Library:
    return await server.database.write(
        libraries.delete, caller, library_id, trash_days=server.settings.limits.trash_days
    )


@router.get("/{library_id}/search", openapi_extra=EXTENSION)
async def search_library(
    library_id: str,
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[SearchQuery, Depends(query_of(SearchQuery))],
) -> SearchResult:
    """Find passages in a library; an extension of this server."""
    return SearchResult(data=[*await server.library.search_library(caller, library_id, query)])


@router.get("/{library_id}/embeddings", openapi_extra=EXTENSION)
async def get_embeddings(
    library_id: str, server: CurrentServer, caller: CurrentCaller
) -> LibraryEmbeddings:
    """Return the embedding model of a library, and how far a change to another is."""
    return await server.library.embeddings(caller, library_id)


@router.put("/{library_id}/embeddings", openapi_extra=EXTENSION)
async def change_embeddings(
    library_id: str, body: EmbeddingsChange, server: CurrentServer, caller: CurrentCaller
) -> LibraryEmbeddings:
    """Embed a library anew with another model, in the background."""
    return await server.library.change_embeddings(caller, library_id, body.model)


@router.get("/{library_id}/share")
async def list_shares(library_id: str, server: CurrentServer, caller: CurrentCaller) -> SharingList:
    return await server.database.read(shares.get_all, caller, library_id)


@router.put("/{library_id}/share")
async def share_library(
    library_id: str, body: ShareRequest, server: CurrentServer, caller: CurrentCaller
) -> Sharing:
    return await server.database.write(shares.put, caller, library_id, body)


@router.delete("/{library_id}/share")
async def unshare_library(
    library_id: str, body: ShareRemoval, server: CurrentServer, caller: CurrentCaller
) -> Sharing:
    return await server.database.write(shares.delete, caller, library_id, body)
