"""Libraries as vector stores: their documents come from stored files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from carrel.server.blobs.store import Blobs
from carrel.server.errors import ApiError
from carrel.server.formats.mimetypes import sniff
from carrel.server.library.service import LibraryService
from carrel.server.records import documents, files, libraries, processing
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.documents import NewDocument, StoredDocument
from carrel.server.records.errors import NotFound
from carrel.server.records.files import StoredFile
from carrel.server.records.libraries import Role
from carrel.server.records.sql.conditions import find
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.ids import new_id
from carrel.server.records.sql.tables import file_batches
from carrel.server.settings import Limits
from carrel.wire.documents import Document, DocumentUpdate
from carrel.wire.id_lists import IdQuery
from carrel.wire.libraries import Library, LibraryCreate
from carrel.wire.vector_stores import (
    FileBatch,
    FileCounts,
    FileQuery,
    VectorStore,
    VectorStoreCreate,
    VectorStoreFile,
    VectorStoreFileCreate,
    VectorStoreFileList,
    VectorStoreList,
)


@dataclass(frozen=True)
class VectorStores:
    """The vector stores of a caller."""

    _database: Database
    _blobs: Blobs
    _library: LibraryService
    _caller: Caller
    _limits: Limits

    async def page(self, query: IdQuery) -> VectorStoreList:
        """Return a page of the stores that the caller may see.

        Raises:
            NotFound: there is no store of the id `after`.
        """

        def read(connection: sa.Connection) -> VectorStoreList:
            listed, more = libraries.page_after(connection, self._caller, query)
            return VectorStoreList.of([_store(connection, one) for one in listed], more)

        return await self._database.read(read)

    async def get(self, id: str) -> VectorStore:
        """Return a store.

        Raises:
            NotFound: there is none, or the caller may not see it.
        """

        def read(connection: sa.Connection) -> VectorStore:
            return _store(connection, libraries.get(connection, self._caller, id))

        return await self._database.read(read)

    async def create(self, new: VectorStoreCreate, embedding_model: str | None) -> VectorStore:
        """Make a store, with documents of stored files.

        Raises:
            ApiError: as `add`, and no store is made where a file does not exist.
        """
        added = [VectorStoreFileCreate(file_id=id) for id in new.file_ids]
        stored = await self._load_files(added)
        asked = LibraryCreate(name=new.name, description=new.description)
        library, _ = await self._library.create(self._caller, asked, embedding_model)
        for one, file in zip(added, stored, strict=True):
            await self._add(library.id, one, file)
        return await self.get(library.id)

    async def add(self, store_id: str, new: VectorStoreFileCreate) -> VectorStoreFile:
        """Add a stored file, which is then processed.

        Raises:
            ApiError: 404, 403 without the role of an editor or beyond a quota, 413.
        """
        await self._database.read(libraries.require, self._caller, store_id, Role.EDITOR)
        [stored] = await self._load_files([new])
        document = await self._add(store_id, new, stored)
        return VectorStoreFile.of(document, new.file_id)

    async def add_batch(self, store_id: str, new: Sequence[VectorStoreFileCreate]) -> FileBatch:
        """Add stored files together.

        Raises:
            ApiError: as `add`, and none is added where a file does not exist.
        """
        await self._database.read(libraries.require, self._caller, store_id, Role.EDITOR)
        stored = await self._load_files(new)
        added = {
            (await self._add(store_id, one, file)).id: one.file_id
            for one, file in zip(new, stored, strict=True)
        }
        id = new_id()
        values = {"id": id, "library_id": store_id, "files": added, "created_at": datetime.now(UTC)}
        await self._database.write(lambda it: it.execute(file_batches.insert().values(values)))
        return await self.batch(store_id, id)

    async def batch(self, store_id: str, id: str, *, cancel: bool = False) -> FileBatch:
        """Return a batch. `cancel` first ends its waiting and running documents.

        Raises:
            ApiError: 404; 403 without the role of an editor, which cancelling needs.
        """
        role = Role.EDITOR if cancel else Role.VIEWER

        def load(connection: sa.Connection) -> FileBatch:
            row = self._batch(connection, store_id, id, role)
            if cancel:
                processing.cancel(connection, store_id, row.files)
            counts = FileCounts.of(documents.count(connection, store_id, row.files))
            return FileBatch(
                id=id,
                created_at=int(row.created_at.timestamp()),
                vector_store_id=store_id,
                file_counts=counts,
            )

        run = self._database.write if cancel else self._database.read
        return await run(load)

    async def files(
        self, store_id: str, query: FileQuery, batch_id: str | None = None
    ) -> VectorStoreFileList:
        """Return a page of the documents of a store, or of a batch.

        Raises:
            NotFound: there is no such store or batch, or no document of the id `after`.
        """

        def read(connection: sa.Connection) -> VectorStoreFileList:
            libraries.require(connection, self._caller, store_id)
            names: dict[str, str] = {}
            if batch_id is not None:
                names = self._batch(connection, store_id, batch_id).files
            ids = names if batch_id is not None else None
            found, more = documents.page_after(connection, store_id, query, ids)
            listed = [VectorStoreFile.of(one, names.get(one.id)) for one in found]
            return VectorStoreFileList.of(listed, more)

        return await self._database.read(read)

    async def document(self, store_id: str, id: str) -> StoredDocument:
        """Return the document of an id, or of the stored file of that id.

        Raises:
            NotFound: there is none.
        """

        def read(connection: sa.Connection) -> StoredDocument:
            try:
                return documents.get(connection, self._caller, store_id, id)
            except NotFound:
                libraries.require(connection, self._caller, store_id)
                blob = files.get(connection, self._caller, id).blob
                found = documents.find_by_bytes(connection, store_id, blob)
                if found is None:
                    raise NotFound.of("file", id) from None
                return found

        return await self._database.read(read)

    def _batch(
        self, connection: sa.Connection, store_id: str, id: str, needed: Role = Role.VIEWER
    ) -> sa.Row[Any]:
        libraries.require(connection, self._caller, store_id, needed)
        of_store = file_batches.c.library_id == store_id
        query = sa.select(file_batches).where(of_store, file_batches.c.id == id)
        return find(connection, query, "batch", id)

    async def _load_files(self, new: Sequence[VectorStoreFileCreate]) -> list[StoredFile]:
        def read(connection: sa.Connection) -> list[StoredFile]:
            return [files.get(connection, self._caller, one.file_id) for one in new]

        return await self._database.read(read)

    async def _add(self, store_id: str, new: VectorStoreFileCreate, stored: StoredFile) -> Document:
        size, most = await self._blobs.size(stored.blob), self._limits.bytes_of_document
        if size > most:
            raise ApiError(413, f"This file is larger than the {most // 2**20} MiB of a document.")
        name = stored.file.filename
        async with self._blobs.local(stored.blob) as path:
            kind = await asyncio.to_thread(sniff, path, name)
        there = NewDocument(name, stored.blob, size, kind.mimetype, kind.extension)
        document, _ = await self._library.add(self._caller, store_id, there, self._limits)
        if new.attributes is None:
            return document
        change = DocumentUpdate(attributes=new.attributes)
        return await self._database.write(
            documents.update, self._caller, store_id, document.id, change
        )


def _store(connection: sa.Connection, library: Library) -> VectorStore:
    return VectorStore.of(library, FileCounts.of(documents.count(connection, library.id)))
