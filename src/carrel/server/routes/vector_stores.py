"""Vector stores, the libraries under the name that clients of the chat dialect know."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from carrel.server.library.vector_stores import VectorStores
from carrel.server.records import documents, libraries
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    ignored_note,
    query_of,
    warn_of,
)
from carrel.wire.base import Request
from carrel.wire.documents import DocumentUpdate
from carrel.wire.libraries import LibraryCreate, LibraryUpdate, SearchQuery
from carrel.wire.vector_stores import (
    DeletedVectorStore,
    DeletedVectorStoreFile,
    FilePageQuery,
    PageQuery,
    VectorStore,
    VectorStoreCreate,
    VectorStoreFile,
    VectorStoreFileCreate,
    VectorStoreFileList,
    VectorStoreFileUpdate,
    VectorStoreHit,
    VectorStoreList,
    VectorStoreResults,
    VectorStoreSearch,
    VectorStoreUpdate,
)

router = APIRouter(prefix="/v1/vector_stores")


def _stores(server: CurrentServer) -> VectorStores:
    return VectorStores(server.database, server.blobs, server.library)


Stores = Annotated[VectorStores, Depends(_stores)]


@router.get("")
async def list_vector_stores(
    stores: Stores, caller: CurrentCaller, query: Annotated[PageQuery, Depends(query_of(PageQuery))]
) -> VectorStoreList:
    data, more = await stores.page(caller, query)
    ids: list[str | None] = [one.id for one in data] or [None]
    return VectorStoreList(data=data, first_id=ids[0], last_id=ids[-1], has_more=more)


@router.post("")
async def create_vector_store(
    body: VectorStoreCreate,
    response: Response,
    server: CurrentServer,
    stores: Stores,
    caller: CurrentCaller,
) -> VectorStore:
    """Make a library, and documents of stored files in it."""
    new = LibraryCreate(name=body.name, description=body.description)
    library, _ = await server.library.create(caller, new, server.settings.embedding_model)
    limits = server.settings.limits
    for file_id in body.file_ids:
        await stores.add(caller, library.id, VectorStoreFileCreate(file_id=file_id), limits)
    _warn_of_ignored(body, response)
    return await stores.get(caller, library.id)


@router.get("/{store_id}")
async def get_vector_store(store_id: str, stores: Stores, caller: CurrentCaller) -> VectorStore:
    return await stores.get(caller, store_id)


@router.post("/{store_id}")
async def update_vector_store(
    store_id: str,
    body: VectorStoreUpdate,
    response: Response,
    server: CurrentServer,
    stores: Stores,
    caller: CurrentCaller,
) -> VectorStore:
    if body.name is not None:
        change = LibraryUpdate(name=body.name)
        await server.database.write(libraries.update, caller, store_id, change)
    _warn_of_ignored(body, response)
    return await stores.get(caller, store_id)


@router.delete("/{store_id}")
async def delete_vector_store(
    store_id: str, server: CurrentServer, caller: CurrentCaller
) -> DeletedVectorStore:
    days = server.settings.limits.trash_days
    await server.database.write(libraries.delete, caller, store_id, trash_days=days)
    return DeletedVectorStore(id=store_id)


@router.post("/{store_id}/search")
async def search_vector_store(
    store_id: str, body: VectorStoreSearch, server: CurrentServer, caller: CurrentCaller
) -> VectorStoreResults:
    query = SearchQuery(query=" ".join(body.queries), limit=body.max_num_results)
    matches = body.filters.matches if body.filters else None
    found = await server.library.search_library(caller, store_id, query, matches)
    ids = {one.document_id for one in found}
    attributes = await server.database.read(documents.attributes, library_id=store_id, ids=ids)
    threshold = body.ranking_options and body.ranking_options.score_threshold
    hits = [
        VectorStoreHit.of(one, one.text, attributes.get(one.document_id, {}))
        for one in found
        if not threshold or one.score >= threshold
    ]
    return VectorStoreResults(search_query=body.queries, data=hits)


@router.get("/{store_id}/files")
async def list_vector_store_files(
    store_id: str,
    stores: Stores,
    caller: CurrentCaller,
    query: Annotated[FilePageQuery, Depends(query_of(FilePageQuery))],
) -> VectorStoreFileList:
    data, more = await stores.files(caller, store_id, query)
    ids: list[str | None] = [one.id for one in data] or [None]
    return VectorStoreFileList(data=data, first_id=ids[0], last_id=ids[-1], has_more=more)


@router.post("/{store_id}/files")
async def add_vector_store_file(
    store_id: str,
    body: VectorStoreFileCreate,
    response: Response,
    server: CurrentServer,
    stores: Stores,
    caller: CurrentCaller,
) -> VectorStoreFile:
    """Make a document of a stored file; it is then processed."""
    limits = server.settings.limits
    added = await stores.add(caller, store_id, body, limits)
    _warn_of_ignored(body, response)
    return added


@router.get("/{store_id}/files/{file_id}")
async def get_vector_store_file(
    store_id: str, file_id: str, stores: Stores, caller: CurrentCaller
) -> VectorStoreFile:
    """Return a document, by its id or by that of its stored file."""
    stored = await stores.document(caller, store_id, file_id)
    return VectorStoreFile.of(stored.document, file_id)


@router.post("/{store_id}/files/{file_id}")
async def update_vector_store_file(
    store_id: str,
    file_id: str,
    body: VectorStoreFileUpdate,
    server: CurrentServer,
    stores: Stores,
    caller: CurrentCaller,
) -> VectorStoreFile:
    stored = await stores.document(caller, store_id, file_id)
    changed = await server.database.write(
        documents.update,
        caller,
        store_id,
        stored.document.id,
        DocumentUpdate(attributes=body.attributes),
    )
    return VectorStoreFile.of(changed, file_id)


@router.delete("/{store_id}/files/{file_id}")
async def remove_vector_store_file(
    store_id: str, file_id: str, server: CurrentServer, stores: Stores, caller: CurrentCaller
) -> DeletedVectorStoreFile:
    """Move a document to the trash; the stored file that it came from stays."""
    stored = await stores.document(caller, store_id, file_id)
    days = server.settings.limits.trash_days
    await server.database.write(
        documents.delete, caller, store_id, stored.document.id, trash_days=days
    )
    return DeletedVectorStoreFile(id=file_id)


def _warn_of_ignored(body: Request, response: Response) -> None:
    """Name the fields that had no effect, but for those that are empty."""
    named = sorted(name for name, value in (body.model_extra or {}).items() if value)
    warn_of(ignored_note(named), response)
