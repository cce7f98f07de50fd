"""Computes missing vectors, of a next model or of single chunks.

Each batch is stored by itself, so after a crash the job goes on where it was.
"""

import logging
from collections.abc import Callable
from functools import partial

import sqlalchemy as sa

from carrel.server.errors import ApiError
from carrel.server.jobs import JobKey, Queue, RunStep
from carrel.server.library.embedding import LibraryEmbedder
from carrel.server.records import embeddings
from carrel.server.records.embeddings import OtherDimensions
from carrel.server.records.sql.database import Database

log = logging.getLogger(__name__)

RETRY_SECONDS = (2.0, 15.0, 60.0, 300.0, 900.0)
"""Delays before each retry while an address is away; the last one repeats."""
_BATCH = 128
"""Chunks that are embedded at a time."""
_REMOVED = 1000
"""Vectors of one transaction."""
_FAILED = "The server failed while it embedded the library; its log says why. Trying again."


class Reembedding:
    """Works off the jobs of a queue whose keys are a library and the number of the attempt."""

    def __init__(
        self, database: Database, embedder: LibraryEmbedder, queue: Callable[[], Queue]
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._queue = queue

    def enqueue(
        self, connection: sa.Connection, library_id: str, attempt: int = 0, delay: float = 0
    ) -> None:
        """Queue the embedding of a library within the caller's transaction."""
        self._queue().enqueue(connection, (library_id, attempt), delay=delay)

    def run(self, key: JobKey, durable_step: RunStep, step: RunStep) -> None:
        """Embed one library, batch by batch, in a worker thread."""
        library_id, attempt = str(key[0]), int(key[1])
        while True:
            problem = step(self.embed_some, library_id)
            if problem is None:
                return
            if isinstance(problem, ApiError):
                # The job's memory keeps plain values.
                plain = problem.status, problem.message
                durable_step(self.give_up_or_retry, library_id, attempt, plain)
                return

    async def embed_some(self, library_id: str) -> ApiError | bool | None:
        """Embed some chunks and return True if there may be more, None if not, or a problem."""
        try:
            waiting = await self._database.read(embeddings.next_waiting, library_id, limit=_BATCH)
            if waiting is None:
                return await self._finish(library_id)
            stored = await self._embedder.chunks(waiting.model, list(waiting.texts.values()))
            new = {
                id: vector
                for id, vector in zip(waiting.texts, stored, strict=True)
                if vector is not None
            }
            if len(new) < len(stored):
                return None
            await self._database.write(
                embeddings.add,
                library_id,
                model=waiting.model,
                dimensions=len(next(iter(new.values())).vector) // 2,
                new=new,
            )
        except OtherDimensions as error:
            return ApiError(400, str(error))
        except ApiError as error:
            return error
        except Exception:
            log.exception("library %s could not be embedded", library_id)
            return ApiError(503, _FAILED)
        return True

    async def _finish(self, library_id: str) -> bool | None:
        """Let the next model answer once all chunks have its vectors."""
        state = await self._database.read(embeddings.state, library_id)
        if state.next is not None and state.next.dimensions is None:
            # An empty library has had no vector yet that tells.
            dimensions = await self._embedder.dimensions(state.next.model)
            await self._database.write(
                embeddings.add, library_id, model=state.next.model, dimensions=dimensions, new={}
            )
        if not await self._database.write(embeddings.swap, library_id):
            return True
        if state.next is not None:
            log.info("library %s is searched by %s now", library_id, state.next.model)
        await self._remove_old(library_id)
        return None

    async def _remove_old(self, library_id: str) -> None:
        """Remove the vectors that no search needs any more; the job repeats a removal cut short."""
        after: int | None = None
        while True:
            remove = partial(
                embeddings.remove_old, library_id=library_id, after=after, limit=_REMOVED
            )
            after = await self._database.write(remove)
            if after is None:
                return

    async def give_up_or_retry(
        self, library_id: str, attempt: int, problem: tuple[int, str]
    ) -> None:
        """Record a failure on the library and queue a retry if it may help."""
        status, message = problem
        log.warning("library %s lacks vectors: %s", library_id, message)

        def write(connection: sa.Connection) -> None:
            embeddings.fail(connection, library_id, message)
            if status != 400:
                delay = RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)]
                self.enqueue(connection, library_id, attempt + 1, delay)

        await self._database.write(write)
