"""Pauses garbage collection while a backup copies: the bytes of its records must stay."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from carrel.server.datadir.folder import FolderLayout
from carrel.server.records.sql.database import Database, release_lock, take_lock
from carrel.system.locking import Locked, lock_file

_NAME = "throw away"
_RETRY_SECONDS = 2
_PATIENCE_SECONDS = 600
"""Longest wait for a garbage collection or another backup."""


class CollectingError(Exception):
    """Garbage collection cannot be held off; the message says why."""


@asynccontextmanager
async def try_to_collect(database: Database, folder: FolderLayout) -> AsyncIterator[bool]:
    """Yield whether this process may remove bytes: no other process does, and no backup runs or
    starts.
    """
    if database.shared:
        async with database.lock_if_free(_NAME) as first:
            yield first
        return
    release = _lock_folder(folder.path)
    try:
        yield release is not None
    finally:
        if release is not None:
            release()


@contextmanager
def hold_off(storage: sa.Engine | FolderLayout, tell: Callable[[str], None]) -> Iterator[None]:
    """Keep every server of a database or a folder from removing bytes.

    Waits for a collection that runs.

    Raises:
        CollectingError: it does not end, or another backup runs.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        if isinstance(storage, sa.Engine):
            release = _lock_database(storage)
        else:
            release = _lock_folder(storage.path)
        if release is not None:
            break
        if time.monotonic() > deadline:
            raise CollectingError(
                "Another backup of this server runs, or its garbage collection does not end."
                " Try again later."
            )
        tell("waiting for a garbage collection or another backup to end")
        time.sleep(_RETRY_SECONDS)
    try:
        yield
    finally:
        release()


Release = Callable[[], None]


def _lock_folder(path: Path) -> Release | None:
    """Take a folder's lock, or return None if another process has it."""
    try:
        return lock_file(path / "collecting").close
    except Locked:
        return None


def _lock_database(engine: sa.Engine) -> Release | None:
    """Take a database's lock, or return None if another session has it."""
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    if take_lock(connection, _NAME):
        return partial(release_lock, connection)
    release_lock(connection)
    return None
