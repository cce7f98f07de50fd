"""The batches of a server: made, worked off, cancelled.

A request's answer is in the database before the next request begins, so an interrupted batch
goes on where it was, and no request that has an answer is made again.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from carrel.server.batches.calls import CallAnswer
from carrel.server.batches.lines import as_input, as_output, find_lines, problem, read_body
from carrel.server.blobs.store import Blobs, put
from carrel.server.errors import ApiError
from carrel.server.jobs import Interrupted, JobKey, Jobs, RunStep
from carrel.server.models.embedded import SLOTS
from carrel.server.reading.processes.parsers import PARSERS
from carrel.server.records import agents, batches, files
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.batches import PendingLine, Work
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.ids import new_id
from carrel.server.settings import Limits
from carrel.wire.batches import ENDPOINTS, BatchCreate, BatchJob

log = logging.getLogger(__name__)

CallOperation = Callable[[str, dict[str, Any], Caller, str], Awaitable[CallAnswer]]
"""Answers an operation, given its path, body, caller and request id."""

_OCR = "/v1/ocr"
_CHAT = "/v1/chat/completions"
_AGENTS = "/v1/agents/completions"

# Half of the capacity: the other half is for those who wait for an answer.
_READING = max(1, PARSERS // 2)
_ANSWERING = max(1, SLOTS // 2)
_BATCHES = 8
"""Batches that run at once; their requests take turns."""
_RETRIED = (429, 502, 503)
_RETRY_SECONDS = (1.0, 5.0, 20.0)
"""Delays before a request is repeated whose model is busy or away."""
_FETCHED = 256
"""Lines read from the database at a time."""
_WRITTEN = 16
"""Answers read from the database at a time."""
_MESSAGES = 20
"""Distinct messages that a batch reports."""
_RECONCILE_SECONDS = 60
"""Interval of the search for batches that lost their job."""
_LOOK_SECONDS = 1.0
"""Seconds until a cancellation that another server accepted is noticed."""


class BatchJobs:
    """Works off batches in the background."""

    def __init__(
        self, database: Database, blobs: Blobs, jobs: Jobs, limits: Callable[[], Limits]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._limits = limits
        self._queue = jobs.queue("batches", "run_batch", self._work, running=_BATCHES)
        self._call: CallOperation | None = None
        self._reading = asyncio.Semaphore(_READING)
        self._answering = asyncio.Semaphore(_ANSWERING)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopping = False

    def answer_with(self, call: CallOperation) -> None:
        """Set the function that answers a request."""
        self._call = call

    async def stop(self) -> None:
        """Break off running requests; the next start makes them again."""
        self._stopping = True
        for task in self._running.values():
            task.cancel()

    async def create(self, caller: Caller, request: BatchCreate) -> BatchJob:
        """Add a batch to the queue.

        Raises:
            ApiError: 400 for an operation or a line that cannot be, 404 for a file or an agent.
        """
        await self._check(caller, request)
        inputs, visibility = await self._inputs(caller, request)
        async with AsyncExitStack() as stack:
            named = [
                (name, await stack.enter_async_context(self._blobs.local(blob)))
                for name, blob in inputs
            ]
            lines = await asyncio.to_thread(find_lines, named)

        def write(connection: sa.Connection) -> BatchJob:
            job = batches.create(
                connection,
                caller,
                request,
                visibility=visibility,
                inputs=[blob for _, blob in inputs],
                lines=lines,
            )
            self._queue.enqueue(connection, (job.id,))
            return job

        return await self._database.write(write)

    async def cancel(self, caller: Caller, id: str) -> BatchJob:
        """End a batch: at once if it waits, with the answers that it has if it runs.

        Raises:
            ApiError: 404.
        """
        job = await self._database.write(batches.cancel, caller, id)
        if task := self._running.get(id):
            task.cancel()
        return job

    async def outputs(self, caller: Caller, job: BatchJob) -> list[dict[str, Any]]:
        """Return the lines of a batch's files, as far as the caller may see them."""
        lines: list[dict[str, Any]] = []
        for id in filter(None, (job.output_file, job.error_file)):
            try:
                stored = await self._database.read(files.get, caller, id)
            except NotFound:
                continue
            async with self._blobs.local(stored.blob) as path:
                lines += await asyncio.to_thread(_read_lines, path)
        return lines

    async def _check(self, caller: Caller, request: BatchCreate) -> None:
        if request.endpoint not in ENDPOINTS:
            raise ApiError(
                400,
                f"This server has no batches for {request.endpoint[:80]}, only for"
                f" {', '.join(ENDPOINTS)}.",
                param="endpoint",
            )
        if request.agent_id is None:
            return
        if request.endpoint not in (_CHAT, _AGENTS):
            raise ApiError(400, f"No agent answers {request.endpoint}.", param="agent_id")
        await self._database.read(agents.get, caller, request.agent_id)

    async def _inputs(
        self, caller: Caller, request: BatchCreate
    ) -> tuple[list[tuple[str, str]], str]:
        """Return the name and the blob of each input, and the visibility of the outputs."""
        if request.requests is not None:
            blob = await put(self._blobs, as_input(request.requests))
            return [("requests", blob)], "workspace"
        stored = [
            await self._database.read(files.get, caller, id) for id in request.input_files or ()
        ]
        private = any(found.file.visibility == "user" for found in stored)
        inputs = [(found.file.filename, found.blob) for found in stored]
        return inputs, "user" if private else "workspace"

    async def reconcile(self) -> None:
        """Enqueue a job for every unfinished batch that has none, now and at intervals."""
        while True:
            try:
                async with self._database.lock_if_free("reconcile batches") as first:
                    if first:
                        await self._enqueue_lost()
            except Exception:
                log.exception("the batches could not be reconciled; trying again in a minute")
            await asyncio.sleep(_RECONCILE_SECONDS)

    async def _enqueue_lost(self) -> None:
        # In this order: a job added in between belongs to a batch not seen here.
        unfinished = await self._database.read(batches.list_unfinished)
        have_jobs = await asyncio.to_thread(self._queue.unfinished)
        for id in unfinished:
            if (id,) not in have_jobs:
                log.warning("batch %s had lost its job", id)
                await self._database.write(self._queue.enqueue, key=(id,))

    def _work(self, key: JobKey, durable_step: RunStep, step: RunStep) -> None:
        # Not durable: every answer is kept by itself.
        if not step(self._run, str(key[0])):
            raise Interrupted

    async def _run(self, id: str) -> bool:
        """Work off a batch and return whether it has ended."""
        work = await self._database.write(batches.begin, id)
        if work is None:
            return True
        late = False
        if not work.cancelled:
            task = self._running[id] = asyncio.create_task(self._answer_all(work))
            try:
                late = await self._wait_for(task, work)
            finally:
                task.cancel()
                await asyncio.wait({task})
                del self._running[id]
            if self._stopping:
                return False
            if not task.cancelled():
                task.result()
        await self._finish(work, late=late)
        return True

    async def _wait_for(self, task: asyncio.Task[None], work: Work) -> bool:
        """Wait until a batch's work ends or is cancelled, and tell whether its time ran out."""
        while (left := (work.deadline - datetime.now(UTC)).total_seconds()) > 0:
            await asyncio.wait({task}, timeout=min(left, _LOOK_SECONDS))
            # Another server may have been asked to cancel it.
            if task.done() or await self._database.read(batches.is_cancelled, work.id):
                return False
        return True

    async def _answer_all(self, work: Work) -> None:
        """Answer every line that has no answer, until the batch is cancelled."""
        async with AsyncExitStack() as stack:
            paths = [
                await stack.enter_async_context(self._blobs.local(blob)) for blob in work.inputs
            ]
            lines, turn = self._lines(work), asyncio.Lock()

            async def answer_lines() -> None:
                goes_on = True
                while goes_on:
                    async with turn:
                        # One line at a time: a generator that is running raises on a second call.
                        line = await anext(lines, None)
                    if line is None:
                        return
                    goes_on = await self._answer(work, line, paths[line.input])

            async with asyncio.TaskGroup() as group:
                for _ in range(_READING if work.endpoint == _OCR else _ANSWERING):
                    group.create_task(answer_lines())

    async def _lines(self, work: Work) -> AsyncGenerator[PendingLine]:
        after = -1
        while lines := await self._database.read(
            batches.next_unanswered, work.id, after=after, limit=_FETCHED
        ):
            for line in lines:
                yield line
            after = lines[-1].number

    async def _answer(self, work: Work, line: PendingLine, path: Path) -> bool:
        """Answer a line, keep the answer and return whether the batch goes on."""
        assert self._call is not None, "nothing answers"
        body = await asyncio.to_thread(read_body, path, line)
        operation, body = _operation(work, body)
        share = self._reading if work.endpoint == _OCR else self._answering
        for delay in (*_RETRY_SECONDS, None):
            # The slot is left during a delay, so that other requests are answered meanwhile.
            async with share:
                answer = await self._call(
                    operation, body, work.caller, f"batch-{work.id}-{line.number}"
                )
            if delay is None or answer.status not in _RETRIED:
                break
            await asyncio.sleep(delay)
        return await self._database.write(
            batches.record,
            work.id,
            number=line.number,
            status=answer.status,
            response=answer.body.decode(),
        )

    async def _finish(self, work: Work, *, late: bool) -> None:
        """Write the files of a batch and end it."""
        messages = Counter[str]()
        output, succeeded = await self._save_file(work, Counter(), failed=False)
        error, failed = await self._save_file(work, messages, failed=True)
        errors = [{"message": it, "count": n} for it, n in messages.most_common(_MESSAGES)]
        status = await self._database.write(
            batches.finish,
            work,
            late=late,
            succeeded=succeeded,
            failed=failed,
            errors=errors,
            output=output,
            error=error,
        )
        log.info("batch %s ended: %s", work.id, status)

    async def _save_file(
        self, work: Work, messages: Counter[str], *, failed: bool
    ) -> tuple[dict[str, Any] | None, int]:
        """Save the succeeded or failed lines of a batch; return the file's columns and line count.

        A file without lines is not saved. `messages` counts the errors of failed lines.
        """
        after, count = -1, 0
        async with self._blobs.writer() as writer:
            while lines := await self._database.read(
                batches.next_answered, work.id, failed=failed, after=after, limit=_WRITTEN
            ):
                if failed:
                    messages.update(map(problem, lines))
                texts = [as_output(work.id, line) for line in lines]
                await writer.write("".join(texts).encode())
                after, count = lines[-1].number, count + len(lines)
            if not count:
                return None, 0
            blob = await writer.commit()
        now, days = datetime.now(UTC), self._limits().file_days
        kind = "error" if failed else "result"
        return {
            "id": new_id(),
            "filename": f"batch_{work.id}_{kind}s.jsonl",
            "blob": blob.hash,
            "bytes": blob.size,
            "purpose": "batch",
            "sample_type": f"batch_{kind}",
            "source": "mistral",
            "num_lines": count,
            "mimetype": "application/jsonl",
            "visibility": work.visibility,
            "created_at": now,
            "expires_at": now + timedelta(days=days) if days else None,
        }, count


def _operation(work: Work, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of a request, completed from its batch."""
    # There is nobody to stream to.
    body = {name: value for name, value in body.items() if name != "stream"}
    if work.agent_id is None:
        model = {"model": work.model} if work.model and work.endpoint != _AGENTS else {}
        return work.endpoint, {**model, **body}
    own = {name: value for name, value in body.items() if name != "model"}
    return _AGENTS, {"agent_id": work.agent_id, **own}


def _read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file:
        return [json.loads(line) for line in file]
