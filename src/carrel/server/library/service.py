"""The libraries of a server: processing and search over its records."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from carrel.server.blobs.store import Blobs
from carrel.server.errors import ApiError
from carrel.server.jobs import JobKey, Jobs, RunStep
from carrel.server.library.embedding import AskAddress, LibraryEmbedder
from carrel.server.library.processing import CountTokens, Processing
from carrel.server.library.reconciler import Reconciler
from carrel.server.library.reembedding import Reembedding
from carrel.server.library.search import FoundPassage, Search
from carrel.server.models.address import ModelAddress
from carrel.server.models.reranker import CANDIDATES, rerank
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.reading.processes.parsers import PARSERS
from carrel.server.records import documents, embeddings, libraries, processing
from carrel.server.records.accounts import quotas
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.documents import NewDocument
from carrel.server.records.errors import NotFound
from carrel.server.records.libraries import Role
from carrel.server.records.processing import Job
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.tables import OWN_EMBEDDING
from carrel.server.settings import Limits
from carrel.server.vision.reader import VisionReader
from carrel.wire.documents import Document
from carrel.wire.libraries import Library, LibraryCreate, LibraryEmbeddings, SearchQuery

if TYPE_CHECKING:
    from carrel.server.library.embedding import Vectors

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

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        reader: VisionReader,
        jobs: Jobs,
        *,
        count_tokens: CountTokens,
        ask_address: AskAddress,
        has_addresses: Callable[[], bool],
        reranker: Callable[[], ModelAddress | None],
    ) -> None:
        """Take the server's parts; the functions use the models in force when they are called."""
        self._database = database
        self.embedder = Embedder()
        """The embedder; its weights are in memory once."""
        self._library_embedder = LibraryEmbedder(self.embedder, ask_address)
        self._reembedding = Reembedding(database, self._library_embedder, lambda: self._embedding)
        self._processing = Processing(
            database,
            blobs,
            reader,
            self.embedder,
            self._library_embedder,
            self._reembedding.enqueue,
            count_tokens,
        )
        self._search = Search(self.embedder)
        self._has_addresses = has_addresses
        self._reranker = reranker
        self._embedding = jobs.queue(
            "embeddings", "embed_library", self._reembedding.run, running=1
        )
        self._queue = jobs.queue("documents", "process_document", self._process, running=_RUNNING)
        self._reconciler = Reconciler(database, self._queue, jobs)

    async def embeddings(self, caller: Caller, library_id: str) -> LibraryEmbeddings:
        """Return the embedding model of a library.

        Raises:
            ApiError: 404.
        """

        def read(connection: sa.Connection) -> LibraryEmbeddings:
            libraries.require(connection, caller, library_id)
            return embeddings.state(connection, library_id)

        return await self._database.read(read)

    async def change_embeddings(
        self, caller: Caller, library_id: str, model: str
    ) -> LibraryEmbeddings:
        """Change a library's model; the present one answers until all is embedded.

        Raises:
            ApiError: 404, 403 for anyone but the owner, 400 the model offers no embeddings, 503
                it does not answer.
        """
        require = partial(
            libraries.require, caller=caller, id=library_id, needed=libraries.Role.OWNER
        )
        await self._database.read(require)
        dimensions = await self._library_embedder.dimensions(model)

        def write(connection: sa.Connection) -> LibraryEmbeddings:
            require(connection)
            if embeddings.change(connection, library_id, model, dimensions):
                self._reembedding.enqueue(connection, library_id)
            return embeddings.state(connection, library_id)

        return await self._database.write(write)

    async def create(
        self, caller: Caller, new: LibraryCreate, model: str | None, *, if_absent: bool = False
    ) -> tuple[Library, bool]:
        """Add a library with this embedding model; return it and whether it is new.

        With `if_absent`, return the caller's existing library of that name, if there is one.
        """

        def write(connection: sa.Connection) -> tuple[Library, bool]:
            if if_absent and (present := libraries.find_owned(connection, caller, new)):
                return present, False
            library = libraries.create(connection, caller, new)
            if model not in (None, OWN_EMBEDDING):
                embeddings.change(connection, library.id, str(model), None)
                self._reembedding.enqueue(connection, library.id)
            return library, True

        return await self._database.write(write)

    @property
    def active(self) -> int:
        """Number of documents being processed."""
        return self._queue.running

    async def worker(self) -> WorkerState:
        """Return the state of the worker that processes documents."""
        unfinished = await self._database.read(processing.list_unfinished)
        return WorkerState(
            silent_seconds=self._reconciler.silent_seconds,
            running=self.active,
            queued=max(0, len(unfinished) - self.active),
        )

    def background(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield the work beside the jobs, to be run once they have started."""
        yield self._reconciler.run()
        yield self._database.read(self._search.warm)

    async def add(
        self, caller: Caller, library_id: str, new: NewDocument, limits: Limits
    ) -> tuple[Document, bool]:
        """Return the library's document with these bytes, and whether it is new and was queued.

        Raises:
            ApiError: 404, or 403 without the role of an editor, or beyond the quota of the limits.
        """

        def write(connection: sa.Connection) -> tuple[Document, bool]:
            document, created = documents.add(connection, caller, library_id, new)
            if created:
                quotas.check(connection, caller, limits)
                self.enqueue(connection, Job(document.id, documents.FIRST_GENERATION))
            return document, created

        return await self._database.write(write)

    async def reprocess(self, caller: Caller, library_id: str, document_id: str) -> None:
        """Queue a document anew; its present text stays searchable until the new one is there.

        Raises:
            ApiError: 404, or 403 without the role of an editor.
        """

        def write(connection: sa.Connection) -> None:
            documents.get(connection, caller, library_id, document_id, Role.EDITOR)
            self.enqueue(connection, processing.restart(connection, document_id))

        await self._database.write(write)

    async def require(self, library_ids: list[str], caller: Caller) -> None:
        """Check that libraries can be searched for a caller.

        Raises:
            ApiError: 404, one was deleted, or the caller may not see it.
        """
        if not library_ids:
            return
        check = partial(libraries.find_missing, caller=caller, ids=library_ids)
        if missing := await self._database.read(check):
            raise ApiError(
                404,
                f"The library {missing[0][:80]} is to be searched, but it was deleted or is not"
                " shared with you. Remove it from the tools, or have it shared or restored.",
            )

    async def search(
        self,
        library_ids: list[str],
        query: str,
        limit: int,
        caller: Caller,
        *,
        document: str | None = None,
    ) -> list[FoundPassage]:
        """Return the best passages of the libraries that the caller may see, best first.

        `document` restricts them to documents with this in their name.
        """

        def choose(connection: sa.Connection, visible: list[str]) -> set[str] | None:
            return documents.find_named(connection, visible, document) if document else None

        return await self._find(caller, library_ids, query, limit, choose)

    async def search_library(
        self,
        caller: Caller,
        library_id: str,
        query: SearchQuery,
        matches: Callable[[dict[str, Any]], bool] | None = None,
    ) -> list[FoundPassage]:
        """Return the best passages of a library, or of some of its documents, best first.

        `matches` restricts it to documents whose attributes it accepts.

        Raises:
            NotFound: there is no such library.
            InvalidField: the attribute filter is not a JSON object.
        """

        def choose(connection: sa.Connection, visible: list[str]) -> set[str] | None:
            if not visible:
                raise NotFound.of("library", library_id)
            restricted = documents.ids_of(
                connection, library_id, query.document_ids, query.filters_attributes
            )
            if matches is None:
                return restricted
            of_each = documents.attributes(connection, library_id, restricted)
            return {id for id, attributes in of_each.items() if matches(attributes)}

        return await self._find(caller, [library_id], query.query, query.limit, choose)

    async def _find(
        self,
        caller: Caller,
        library_ids: list[str],
        query: str,
        limit: int,
        choose: Callable[[sa.Connection, list[str]], set[str] | None],
    ) -> list[FoundPassage]:
        """Return the best passages of the documents that `choose` picks in visible libraries."""
        vectors: dict[str, Vectors] = {}
        if self._has_addresses():
            # By the next model, too: it may take over before the search reads.
            models = await self._database.read(embeddings.models, library_ids=library_ids)
            vectors = await self._library_embedder.queries(models, query)
        address = self._reranker()
        depth = max(limit, CANDIDATES) if address else limit

        def read(connection: sa.Connection) -> list[FoundPassage]:
            visible = libraries.accessible_ids(connection, caller, library_ids)
            among = choose(connection, visible)
            return self._search.find(connection, visible, query, depth, among, vectors=vectors)

        found = await self._database.read(read)
        ranked = None
        if address is not None and len(found) > 1:
            ranked = await rerank(address, query, [passage.text for passage in found], limit)
        if ranked is None:
            return found[:limit]
        return [found[at].model_copy(update={"score": round(score, 4)}) for at, score in ranked]

    def _process(self, key: JobKey, durable_step: RunStep, step: RunStep) -> None:
        self._processing.run(Job.of(key), durable_step, step, self.enqueue)

    def enqueue(self, connection: sa.Connection, job: Job, *, delay: float = 0) -> None:
        """Queue a document's processing within the caller's transaction."""
        self._queue.enqueue(connection, job, delay=delay)
