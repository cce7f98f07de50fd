"""Background tasks of a server: it collects garbage, applies changed settings, and
stops when unused."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Protocol

from carrel.server.blobs.store import Blobs
from carrel.server.datadir.folder import FolderLayout
from carrel.server.housekeeping import gc_pause as collecting
from carrel.server.housekeeping.leases import UNUSED_SECONDS, Leases
from carrel.server.reading.results import Results
from carrel.server.records import blobs as blob_records
from carrel.server.records import files, trash
from carrel.server.records.cluster.reserve import Reserve
from carrel.server.records.sql.database import Database, is_full
from carrel.server.settings import FolderSettings, Limits, ServerSettingsError

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 600
_LOOK_SECONDS = 10
"""Time after which a shorter interval of the settings takes effect."""
_WATCH_SECONDS = 2
"""Interval at which the settings file is looked at."""


async def throw_away(
    database: Database,
    folder: FolderLayout,
    blobs: Blobs,
    results: Results,
    reserve: Reserve,
    limits: Callable[[], Limits],
) -> None:
    """Remove expired files, expired items of the trash and unreferenced bytes, for ever.

    Their cached pages and copies go, too.

    One server does it for all of a database, except for each server's own pages and copies. It
    pauses during a backup.
    """

    async def are_named(hashes: Collection[str]) -> set[str]:
        return await database.read(blob_records.find_named, hashes=hashes)

    while True:
        kept = limits().deleted_seconds
        try:
            async with collecting.try_to_collect(database, folder) as first:
                if first:
                    await asyncio.to_thread(reserve.take)
                    await _delete_expired(database)
                    if removed := await blobs.collect(are_named, kept):
                        log.info("removed %d blobs", removed)
            await blobs.drop_copies(are_named)
            await results.collect(are_named, kept)
        except Exception as failure:
            if is_full(failure) and await asyncio.to_thread(reserve.release):
                continue
            log.exception("throwing away failed; trying again later")
        await _interval(lambda: limits().deleted_seconds)


async def _interval(kept: Callable[[], float]) -> None:
    """Wait for the next collection. A shorter interval set meanwhile takes effect at once."""
    began = time.monotonic()
    for _ in range(_INTERVAL_SECONDS // _LOOK_SECONDS):
        if time.monotonic() - began >= kept():
            return
        await asyncio.sleep(min(_LOOK_SECONDS, kept()))


async def _delete_expired(database: Database) -> None:
    expired = await database.write(files.delete_expired)
    await database.write(trash.delete_expired)
    if expired:
        log.info("removed %d expired files", expired)


async def watch_settings(path: Path, apply: Callable[[FolderSettings], Awaitable[None]]) -> None:
    """Call `apply`, which may refuse them, with the settings after each valid change.

    Never returns.
    """
    seen = _stamp(path)
    while True:
        await asyncio.sleep(_WATCH_SECONDS)
        stamp = _stamp(path)
        if stamp == seen:
            continue
        seen = stamp
        try:
            await apply(FolderSettings.load(path))
        except ServerSettingsError as error:
            log.error("%s Until then the settings stay as they were.", error)
        else:
            log.info("%s has changed and is in force", path)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class Pausable(Protocol):
    """A background worker that can be paused."""

    @property
    def active(self) -> int:
        """Number of running jobs."""

    def pause(self) -> None:
        """Start no more jobs; running ones continue."""

    def resume(self) -> None:
        """Start jobs again."""


async def stop_when_unused(leases: Leases, worker: Pausable, stop: Callable[[], None]) -> None:
    """Call `stop` after a while without a lease, once running work has finished."""
    while True:
        await asyncio.sleep(1)
        if leases.unused_seconds() < UNUSED_SECONDS:
            worker.resume()
            continue
        worker.pause()
        if worker.active == 0:
            log.info("nobody has used this server for %d s: stopping", UNUSED_SECONDS)
            stop()
            return
