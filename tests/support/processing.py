"""A library service on a data folder, with a reader that does as it is told."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa

from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import put
from carrel.server.datadir.folder import DataFolder
from carrel.server.errors import ApiError
from carrel.server.http.access import Access
from carrel.server.jobs import Jobs
from carrel.server.library.processing import CountTokens
from carrel.server.library.service import LibraryService
from carrel.server.reading.options import ReadOptions, ReadResult
from carrel.server.records import documents, libraries
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.documents import NewDocument
from carrel.server.records.sql.database import Database
from carrel.server.settings import Limits
from carrel.server.vision.reader import VisionReader
from carrel.wire.documents import Document
from carrel.wire.libraries import LibraryCreate
from carrel.wire.ocr import Page
from support import storage

Read = Callable[[], Awaitable[str]]


class ScriptedReader:
    """Reads every document as the Markdown that the test's function returns."""

    def __init__(self) -> None:
        self.reads = 0
        self.script: Read = self._text

    async def read(
        self, path: Path, *, mimetype: str | None, options: ReadOptions, hash: str
    ) -> ReadResult:
        """One page, or whatever the script raises."""
        self.reads += 1
        page = Page(index=0, markdown=await self.script(), dimensions=None)
        return ReadResult([page], page_count=1, size=1, ocr_used=False)

    async def _text(self) -> str:
        return "a heron at dawn"


async def _no_model(*asked: object) -> Any:
    raise ApiError(503, "no model")


class Lab:
    """A library service on a data folder, without the server around it."""

    def __init__(
        self, folder: DataFolder, reader: ScriptedReader, executor: str = "server"
    ) -> None:
        self.reader = reader
        self.database = Database(storage.database_url(folder.path))
        self.blobs = LocalBlobs(folder.blob_folder)
        self.access = Access(self.database, folder.secret)
        self.jobs = Jobs(self.database.engine, executor)
        self.count_tokens: CountTokens = _no_model
        self.service = LibraryService(
            self.database,
            self.blobs,
            cast(VisionReader, reader),
            self.jobs,
            count_tokens=lambda text: self.count_tokens(text),
            ask_address=_no_model,
            has_addresses=lambda: False,
            reranker=lambda: None,
        )
        self._background: list[asyncio.Task[None]] = []
        self.api_key = folder.api_key

    async def open(self) -> None:
        """Starts the service as the server does."""
        self.opened = time.monotonic()
        await self.access.admit(self.api_key)
        self.caller: Caller = await self.access.caller(f"Bearer {self.api_key}")
        await self.jobs.start()
        self._background = [asyncio.create_task(work) for work in self.service.background()]

    async def close(self) -> None:
        """Stops it."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.jobs.stop()
        self.database.close()

    async def new_library(self) -> str:
        """The id of a fresh library."""
        library = await self.database.write(
            lambda connection: libraries.create(connection, self.caller, LibraryCreate(name="L"))
        )
        return library.id

    async def add(
        self, library_id: str, data: bytes = b"bytes", mimetype: str = "text/markdown"
    ) -> Document:
        """Adds a document, by default a text for the reader."""
        new = NewDocument("a", await put(self.blobs, data), len(data), mimetype, "")
        return (await self.service.add(self.caller, library_id, new, Limits()))[0]

    async def get(self, document: Document) -> Document:
        """The document as it is now."""
        stored = await self.database.read(
            lambda connection: documents.get(
                connection, self.caller, document.library_id, document.id
            )
        )
        return stored.document

    async def until(self, document: Document, *statuses: str) -> Document:
        """The document once it has one of these statuses."""
        async with asyncio.timeout(30):
            while True:
                now = await self.get(document)
                if now.process_status in statuses:
                    return now
                await asyncio.sleep(0.01)

    async def idle(self) -> None:
        """Waits until nothing is being processed."""
        async with asyncio.timeout(30):
            while self.service.active:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def reconciled(self) -> None:
        """Waits for the first round of the reconciler, which begins as the service starts."""
        async with asyncio.timeout(30):
            while self.service._reconciler._came_round < self.opened:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def count(self, table: sa.Table) -> int:
        """How many rows a table has."""
        query = sa.select(sa.func.count()).select_from(table)
        return await self.database.read(lambda connection: connection.scalar(query) or 0)
