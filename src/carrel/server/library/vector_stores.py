"""Libraries as vector stores: their documents come from stored files."""

import asyncio
from collections.abc import Callable
from functools import partial

import sqlalchemy as sa

from carrel.server.blobs.store import Blobs
from carrel.server.errors import ApiError
from carrel.server.formats.mimetypes import sniff
from carrel.server.library.service import LibraryService
from carrel.server.records import documents, files, libraries
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.documents import NewDocument, StoredDocument
from carrel.server.records.errors import NotFound
from carrel.server.records.libraries import Role
from carrel.server.records.sql.database import Database
from carrel.server.settings import Limits
from carrel.wire.documents import Document, DocumentQuery, DocumentUpdate
from carrel.wire.libraries import Library
from carrel.wire.vector_stores import (
    FileCounts,
    FilePageQuery,
    PageQuery,
    VectorStore,
    VectorStoreFile,
    VectorStoreFileCreate,
    file_status,
    status_of,
)

_PAGE = 100


class VectorStores:
    """The vector stores of a server."""

    def __init__(self, database: Database, blobs: Blobs, library: LibraryService) -> None:
        self._database = database
        self._blobs = blobs
        self._library = library

    async def page(self, caller: Caller, query: PageQuery) -> tuple[list[VectorStore], bool]:
        """Return a page of the stores that a caller may see, and whether there are more.

        Raises:
            NotFound: there is no store of the id `after`.
        """

        def read(connection: sa.Connection) -> tuple[list[VectorStore], bool]:
            # One more than asked for says whether there are more.
            listed = libraries.after(
                connection,
                caller,
                query.after,
                limit=query.limit + 1,
                newest_first=query.order == "desc",
            )
            chosen = listed[: query.limit]
            return [_store(connection, one) for one in chosen], len(listed) > len(chosen)

        return await self._database.read(read)

    async def get(self, caller: Caller, id: str) -> VectorStore:
        """Return a store.

        Raises:
            NotFound: there is none, or the caller may not see it.
        """

        def read(connection: sa.Connection) -> VectorStore:
            return _store(connection, libraries.get(connection, caller, id))

        return await self._database.read(read)

    async def add(
        self, caller: Caller, store_id: str, new: VectorStoreFileCreate, limits: Limits
    ) -> VectorStoreFile:
        """Add a stored file, which is then processed.

        Raises:
            ApiError: 404, 403 without the role of an editor or beyond a quota, 413.
        """
        require = partial(libraries.require, caller=caller, id=store_id, needed=Role.EDITOR)
        await self._database.read(require)
        stored = await self._database.read(files.get, caller, new.file_id)
        size = await self._blobs.size(stored.blob)
        most = limits.bytes_of_document
        if size > most:
            raise ApiError(413, f"This file is larger than the {most // 2**20} MiB of a document.")
        name = stored.file.filename
        async with self._blobs.local(stored.blob) as path:
            kind = await asyncio.to_thread(sniff, path, name)
        document, _ = await self._library.add(
            caller,
            store_id,
            NewDocument(name, stored.blob, size, kind.mimetype, kind.extension),
            limits,
        )
        if new.attributes is not None:
            document = await self._database.write(
                documents.update,
                caller,
                store_id,
                document.id,
                DocumentUpdate(attributes=new.attributes),
            )
        return VectorStoreFile.of(document, new.file_id)

    async def files(
        self, caller: Caller, store_id: str, query: FilePageQuery
    ) -> tuple[list[VectorStoreFile], bool]:
        """Return a page of a store's documents, and whether there are more.

        Raises:
            NotFound: there is no such store, or no document of the id `after`.
        """

        def read(connection: sa.Connection) -> tuple[list[VectorStoreFile], bool]:
            def load(number: int) -> list[Document]:
                asked = DocumentQuery(page=number, page_size=_PAGE, sort_order=query.order)
                return documents.page(connection, caller, store_id, asked).data

            wanted = query.filter
            every = [one for one in _every(load) if wanted in (None, file_status(one))]
            chosen, more = _after(every, query)
            return [VectorStoreFile.of(one) for one in chosen], more

        return await self._database.read(read)

    async def document(self, caller: Caller, store_id: str, id: str) -> StoredDocument:
        """Return the document of an id, or of the stored file of that id.

        Raises:
            NotFound: there is none.
        """

        def read(connection: sa.Connection) -> StoredDocument:
            try:
                return documents.get(connection, caller, store_id, id)
            except NotFound:
                libraries.require(connection, caller, store_id)
                blob = files.get(connection, caller, id).blob
                found = documents.with_bytes(connection, store_id, blob)
                if found is None:
                    raise NotFound.of("file", id) from None
                return found

        return await self._database.read(read)


def _store(connection: sa.Connection, library: Library) -> VectorStore:
    counts = dict.fromkeys(("in_progress", "completed", "failed"), 0)
    for status, number in documents.count(connection, library.id).items():
        counts[status_of(status)] += number
    return VectorStore.of(library, FileCounts(**counts, total=sum(counts.values())))


def _every(load: Callable[[int], list[Document]]) -> list[Document]:
    found: list[Document] = []
    while len(page := load(len(found) // _PAGE)) == _PAGE:
        found += page
    return found + page


def _after(listed: list[Document], query: PageQuery) -> tuple[list[Document], bool]:
    ids = [one.id for one in listed]
    if query.after is not None and query.after not in ids:
        raise NotFound.of("item", query.after)
    first = 0 if query.after is None else ids.index(query.after) + 1
    return listed[first : first + query.limit], len(listed) > first + query.limit
