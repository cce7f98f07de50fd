"""Vector stores, the libraries under the name that clients of the chat dialect know."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from carrel.server.library.vector_stores import VectorStores
from carrel.server.records import documents, libraries
from carrel.server.routes.dependencies import Context, InQuery, ignored_note, warn_of
from carrel.wire.base import Request
from carrel.wire.documents import DocumentUpdate
from carrel.wire.id_lists import DeletedItem, IdQuery
from carrel.wire.libraries import LibraryUpdate, SearchQuery
from carrel.wire.vector_stores import (
    FileBatch,
    FileBatchCreate,
    FileQuery,
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


async def _stores(context: Context) -> VectorStores:
    server = context.server
    limits = server.settings.limits
    return VectorStores(server.database, server.blobs, server.library, context.caller, limits)


Stores = Annotated[VectorStores, Depends(_stores)]


@router.get("")
async def list_vector_stores(stores: Stores, query: InQuery[IdQuery]) -> VectorStoreList:
    return await stores.page(query)


@router.post("")
async def create_vector_store(
    body: VectorStoreCreate, response: Response, context: Context, stores: Stores
) -> VectorStore:
    """Make a library, and documents of stored files in it."""
    made = await stores.create(body, context.server.settings.embedding_model)
    _warn_of_ignored(body, response)
    return made


@router.get("/{store_id}")
async def get_vector_store(store_id: str, stores: Stores) -> VectorStore:
    return await stores.get(store_id)


@router.post("/{store_id}")
async def update_vector_store(
    store_id: str, body: VectorStoreUpdate, response: Response, context: Context, stores: Stores
) -> VectorStore:
    if body.name is not None:
        await context.write(libraries.update, store_id, LibraryUpdate(name=body.name))
    _warn_of_ignored(body, response)
    return await stores.get(store_id)


@router.delete("/{store_id}")
async def delete_vector_store(store_id: str, context: Context) -> DeletedItem:
    await context.write(libraries.delete, store_id, trash_days=context.trash_days)
    return DeletedItem(id=store_id, object="vector_store.deleted")


@router.post("/{store_id}/search")
async def search_vector_store(
    store_id: str, body: VectorStoreSearch, context: Context
) -> VectorStoreResults:
    query = SearchQuery(query=" ".join(body.queries), limit=body.max_num_results)
    matches = body.filters.matches if body.filters else None
    server = context.server
    found = await server.library.search_library(context.caller, store_id, query, matches)
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
    store_id: str, stores: Stores, query: InQuery[FileQuery]
) -> VectorStoreFileList:
    return await stores.files(store_id, query)


@router.post("/{store_id}/files")
async def add_vector_store_file(
    store_id: str, body: VectorStoreFileCreate, response: Response, stores: Stores
) -> VectorStoreFile:
    """Make a document of a stored file; it is then processed."""
    added = await stores.add(store_id, body)
    _warn_of_ignored(body, response)
    return added


@router.get("/{store_id}/files/{file_id}")
async def get_vector_store_file(store_id: str, file_id: str, stores: Stores) -> VectorStoreFile:
    """Return a document, by its id or by that of its stored file."""
    return VectorStoreFile.of((await stores.document(store_id, file_id)).document, file_id)


@router.post("/{store_id}/files/{file_id}")
async def update_vector_store_file(
    store_id: str, file_id: str, body: VectorStoreFileUpdate, context: Context, stores: Stores
) -> VectorStoreFile:
    id = (await stores.document(store_id, file_id)).document.id
    change = DocumentUpdate(attributes=body.attributes)
    changed = await context.write(documents.update, store_id, id, change)
    return VectorStoreFile.of(changed, file_id)


@router.delete("/{store_id}/files/{file_id}")
async def remove_vector_store_file(
    store_id: str, file_id: str, context: Context, stores: Stores
) -> DeletedItem:
    """Move a document to the trash; the stored file that it came from stays."""
    id = (await stores.document(store_id, file_id)).document.id
    await context.write(documents.delete, store_id, id, trash_days=context.trash_days)
    return DeletedItem(id=file_id, object="vector_store.file.deleted")


@router.post("/{store_id}/file_batches")
async def add_vector_store_files(
    store_id: str, body: FileBatchCreate, response: Response, stores: Stores
) -> FileBatch:
    """Make documents of stored files; they are then processed."""
    added = await stores.add_batch(store_id, body.new)
    _warn_of_ignored(body, response)
    return added


@router.get("/{store_id}/file_batches/{file_batch_id}")
async def get_file_batch(store_id: str, file_batch_id: str, stores: Stores) -> FileBatch:
    return await stores.batch(store_id, file_batch_id)


@router.post("/{store_id}/file_batches/{file_batch_id}/cancel")
async def cancel_file_batch(store_id: str, file_batch_id: str, stores: Stores) -> FileBatch:
    """Cancel the documents of a batch that are not read yet; they stay without text."""
    return await stores.batch(store_id, file_batch_id, cancel=True)


@router.get("/{store_id}/file_batches/{file_batch_id}/files")
async def list_file_batch(
    store_id: str, file_batch_id: str, stores: Stores, query: InQuery[FileQuery]
) -> VectorStoreFileList:
    return await stores.files(store_id, query, file_batch_id)


def _warn_of_ignored(body: Request, response: Response) -> None:
    """Name the fields without effect, except empty ones."""
    named = sorted(name for name, value in (body.model_extra or {}).items() if value)
    warn_of(ignored_note(named), response)
