"""The libraries of a server: processing and search over its records."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from carrel.server.blobs.store import Blobs
from carrel.server.errors import not_found
from carrel.server.jobs import JobKey, Jobs, RunStep
from carrel.server.library.processing import CountTokens, Processing
from carrel.server.library.reconciler import Reconciler
from carrel.server.library.search import FoundPassage, Search
from carrel.server.models.embedder import Embedder
from carrel.server.reading.processes.parsers import PARSERS
from carrel.server.reading.reader import Reader
from carrel.server.records import documents, libraries, processing
from carrel.server.records.caller import Caller
from carrel.server.records.database import Database
from carrel.server.records.documents import NewDocument
from carrel.server.records.libraries import Role
from carrel.server.records.processing import Job
from carrel.wire.documents import Document
from carrel.wire.libraries import SearchQuery

# More than the number of parsers: the next is read while one is indexed.
_RUNNING = 3 * PARSERS


@dataclass(frozen=True)
class WorkerState:
    """The state of document processing: its last heartbeat and its load."""

    silent_seconds: float
    running: int
    queued: int


class LibraryService:
    """Processes the documents of libraries in the background, and searches them."""

    def __init__(self, database: Database, blobs: Blobs, reader: Reader, jobs: Jobs) -> None:
        self._database = database
        self.embedder = Embedder()
        """The embedder; its weights are in memory once."""
        self._processing = Processing(database, blobs, reader, self.embedder)
        self._search = Search(self.embedder)
        self._queue = jobs.queue("documents", "process_document", self._process, running=_RUNNING)
        self._reconciler = Reconciler(database, self._queue, jobs)
        self._reconciling: asyncio.Task[Any] | None = None
        self._warming: asyncio.Task[None] | None = None

    def count_tokens_with(self, count_tokens: CountTokens) -> None:
        """Sets the token counter for documents processed from now on."""
        self._processing.count_tokens = count_tokens

    @property
    def active(self) -> int:
        """Number of documents being processed."""
        return self._queue.running

    async def worker(self) -> WorkerState:
        """The state of the worker that processes documents."""
        unfinished = await self._database.read(processing.unfinished)
        return WorkerState(
            silent_seconds=self._reconciler.silent_seconds,
            running=self.active,
            queued=max(0, len(unfinished) - self.active),
        )

    async def start(self) -> None:
        """Resumes processing; the jobs run already."""
        self._reconciling = asyncio.create_task(self._reconciler.run())
        self._warming = asyncio.create_task(self._database.read(self._search.warm))

    async def stop(self) -> None:
        """Stops what runs beside the jobs."""
        for task in (self._reconciling, self._warming):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def add(self, caller: Caller, library_id: str, new: NewDocument) -> tuple[Document, bool]:
        """The library's document with these bytes, and whether it is new and was queued.

        Raises:
            ApiError: 404, or 403 without the role of an editor.
        """

        def write(connection: sa.Connection) -> tuple[Document, bool]:
            document, created = documents.add(connection, caller, library_id, new)
            if created:
                self.enqueue(connection, Job(document.id, documents.FIRST_GENERATION))
            return document, created

        return await self._database.write(write)

    async def reprocess(self, caller: Caller, library_id: str, document_id: str) -> None:
        """Queues a document anew; its present text stays searchable until the new one is there.

        Raises:
            ApiError: 404, or 403 without the role of an editor.
        """

        def write(connection: sa.Connection) -> None:
            documents.get(connection, caller, library_id, document_id, Role.EDITOR)
            self.enqueue(connection, processing.restart(connection, document_id))

        await self._database.write(write)

    async def search(
        self, library_ids: list[str], query: str, limit: int, caller: Caller
    ) -> list[FoundPassage]:
        """The best passages of those libraries that the caller may see, best first."""

        def read(connection: sa.Connection) -> list[FoundPassage]:
            visible = libraries.accessible_ids(connection, caller, library_ids)
            return self._search.find(connection, visible, query, limit)

        return await self._database.read(read)

    async def search_library(
        self, caller: Caller, library_id: str, query: SearchQuery
    ) -> list[FoundPassage]:
        """The best passages of a library, or of some of its documents, best first.

        Raises:
            ApiError: 404.
            InvalidRequest: the attribute filter is not a JSON object.
        """

        def read(connection: sa.Connection) -> list[FoundPassage]:
            if not libraries.accessible_ids(connection, caller, [library_id]):
                raise not_found("library", library_id)
            restricted = documents.ids_of(
                connection, library_id, query.document_ids, query.filters_attributes
            )
            return self._search.find(connection, [library_id], query.query, query.limit, restricted)

        return await self._database.read(read)

    def _process(self, key: JobKey, durable_step: RunStep, step: RunStep) -> None:
        self._processing.run(Job.of(key), durable_step, step, self.enqueue)

    def enqueue(self, connection: sa.Connection, job: Job, *, delay: float = 0) -> None:
        """Queues a document's processing within the caller's transaction."""
        self._queue.enqueue(connection, job.key, delay=delay)
