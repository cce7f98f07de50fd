"""Lets live processes of a database take over the jobs of dead ones."""

import asyncio
import logging

from carrel.server.jobs import Jobs
from carrel.server.records.cluster import workers
from carrel.server.records.sql.database import Database

log = logging.getLogger(__name__)

BEAT_SECONDS = 15
SILENT_SECONDS = 35
"""Without a sign of life for so long, a process is dead: its jobs are taken over."""


class Heartbeat:
    """Writes heartbeats of a process that takes jobs, and takes over jobs of dead processes."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            try:
                await self.beat()
                await self._take_over()
            except Exception:
                log.exception("no sign of life could be given; trying again")
            await asyncio.sleep(BEAT_SECONDS)

    async def beat(self) -> None:
        """Write one heartbeat; the first comes before any job is taken."""
        await self._database.write(workers.beat, self._jobs.executor)

    async def _take_over(self) -> None:
        dead = await self._database.read(workers.list_silent, seconds=SILENT_SECONDS)
        if not dead:
            return
        count = await asyncio.to_thread(self._jobs.take_over, dead)
        log.warning("took over %d jobs of %s", count, ", ".join(dead))
        # Only then: a crash in between leaves them for the next.
        await self._database.write(workers.forget, dead, seconds=SILENT_SECONDS)
