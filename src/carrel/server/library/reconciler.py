"""Repairs the queue after crashes: the document rows are the truth."""

import asyncio
import logging
import time

import sqlalchemy as sa

from carrel.server.jobs import Jobs, Queue
from carrel.server.records import documents, processing
from carrel.server.records.processing import Job, Superseded
from carrel.server.records.sql.database import Database, purge

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 60
"""Interval of the search for documents that lost their job."""
_MAX_LOST = 5
"""Lost jobs after which a document's processing fails."""


class Reconciler:
    """Enqueues unfinished documents without a job, and removes expired ones."""

    def __init__(self, database: Database, queue: Queue, jobs: Jobs) -> None:
        self._database = database
        self._queue = queue
        self._jobs = jobs
        self._came_round = time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """Seconds since the last successful round."""
        return time.monotonic() - self._came_round

    async def run(self) -> None:
        """Reconcile at once and then every minute, until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self._jobs.cancel_lost)
                await self.reconcile()
            except Exception:
                log.exception("the library could not be reconciled; trying again in a minute")
            await asyncio.sleep(_INTERVAL_SECONDS)

    async def reconcile(self) -> None:
        """Reconcile once, unless another server of the database does at present."""
        async with self._database.lock_if_free("reconcile documents") as first:
            if first:
                await self._reconcile()
        self._came_round = time.monotonic()

    async def _reconcile(self) -> None:
        # In this order: a job added in between belongs to a document not seen here.
        unfinished = await self._database.read(processing.list_unfinished)
        keys = await asyncio.to_thread(self._queue.unfinished)
        have_jobs = {Job.of(key) for key in keys}
        for job in unfinished:
            if job not in have_jobs:
                await self._database.write(self._resume, job=job)
        await self._database.write(documents.delete_expired)
        await self._database.write(purge)

    def _resume(self, connection: sa.Connection, job: Job) -> None:
        try:
            lost = processing.attempts(connection, job)
            if lost >= _MAX_LOST:
                reason = "Processing was cut short again and again. Process the document again."
                processing.fail(connection, job, reason)
                return
            log.warning("document %s had lost its job", job.document_id)
            processing.postpone(connection, job, "Processing was cut short.", 0)
            self._queue.enqueue(connection, job)
        except Superseded:
            pass
