"""The database: threads that write, threads that read."""

import asyncio
import errno
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from carrel.server.records.sql import postgresql, sqlite
from carrel.server.records.sql.queues import forget_ended
from carrel.server.records.sql.threads import Threads

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[[sa.Connection], T]

_ATTEMPTS = 8
"""Attempts before the conflict of a write is raised."""
_PAUSE_SECONDS = 0.02
"""Longest pause after the first conflict; it doubles with each further one."""
_TURN_SECONDS = 0.05
"""Pause between two tries of a lock that another server holds."""
_AFTER_COMMIT = "after commit"


def make_engine(url: str) -> sa.Engine:
    """Return an engine for the address of a SQLite file or of a PostgreSQL database."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return sqlite.make_engine(parsed)
    return postgresql.make_engine(parsed)


def call_after_commit(
    connection: sa.Connection, call: Callable[..., object], *args: object
) -> None:
    """Call a function after the transaction of `write` commits. Equal calls run once."""
    connection.info.setdefault(_AFTER_COMMIT, {})[call, args] = None


def purge(connection: sa.Connection) -> None:
    """Mark a transaction as a permanent delete: its ended jobs and the WAL are cleared after it."""
    forget_ended(connection)
    if connection.dialect.name == "sqlite":
        call_after_commit(connection, sqlite.truncate_log, connection.engine)


class Database:
    """The records of a server.

    `read` and `write` run a function of a connection, with its other arguments, in a thread: a
    write in a transaction that commits when the function returns and rolls back when it raises, a
    read on one consistent snapshot. SQLite runs writes one after another. PostgreSQL runs writes of
    all servers concurrently, and retries a function after a serialization failure.
    """

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        self.shared = self.engine.dialect.name == "postgresql"
        """Whether other servers may use the same database."""
        kind = postgresql if self.shared else sqlite
        self._reading = self.engine.execution_options(**kind.READING)
        self._writers = Threads(kind.WRITERS, "database-writer")
        self._readers = Threads(kind.READERS, "database-reader")
        self._turns = asyncio.Lock()
        self._watching: sqlite3.Connection | None = None

    def version(self) -> int | None:
        """Return a number that changes with every commit of any process.

        Takes microseconds. None where only asking tells.
        """
        try:
            if self._watching is None and not self.shared:
                self._watching = sqlite.connect_read_only(Path(self.engine.url.database or ""))
            if self._watching is not None:
                return int(self._watching.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.OperationalError:
            pass
        return None

    async def read(
        self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in a reader thread with these arguments and return its result."""
        return await self._readers.run(partial(self._read, work, *args, **kwargs))

    async def write(
        self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in a writer thread with these arguments, commit, and return its result."""
        # A job that is enqueued there knows its request by the context.
        context = copy_context()
        return await self._writers.run(
            lambda: context.run(write, self.engine, lambda one: work(one, *args, **kwargs))
        )

    @asynccontextmanager
    async def lock_if_free(self, name: str) -> AsyncIterator[bool]:
        """Hold the lock of this name, if no other server holds it; yield whether it is held."""
        if not self.shared:
            yield True
            return
        connection = await asyncio.to_thread(self._session)
        try:
            yield await asyncio.to_thread(take_lock, connection, name)
        finally:
            await asyncio.to_thread(release_lock, connection)

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Let blocks of this name run one after another, in every server of the database.

        A block holds one of the connections: for work in the background alone.
        """
        if not self.shared:
            async with self._turns:
                yield
            return
        connection = await self._wait_for_turn(name)
        try:
            yield
        finally:
            # The end of the transaction releases the lock.
            await asyncio.to_thread(connection.close)

    async def wait_for_block(self, name: str) -> None:
        """Wait while a server is in a block of this name."""
        if not self.shared:
            async with self._turns:
                return
        while True:
            if await self.read(_is_free, name=name):
                return
            await asyncio.sleep(_TURN_SECONDS)

    async def _wait_for_turn(self, name: str) -> sa.Connection:
        # A thread that waited for a lock could be the one that its release needs.
        while True:
            connection = await asyncio.to_thread(self._try_turn, name)
            if connection is not None:
                return connection
            await asyncio.sleep(_TURN_SECONDS)

    def _session(self) -> sa.Connection:
        return self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def _try_turn(self, name: str) -> sa.Connection | None:
        connection = self.engine.connect()
        query = sa.select(sa.func.pg_try_advisory_xact_lock(_turn_number(name)))
        if connection.scalar(query):
            return connection
        connection.close()
        return None

    def _read(
        self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        with self._reading.begin() as connection:
            return work(connection, *args, **kwargs)

    def close(self) -> None:
        """Wait for what is running and close every connection."""
        self._writers.close()
        self._readers.close()
        self.engine.dispose()
        if self._watching is not None:
            self._watching.close()


def write(engine: sa.Engine, work: Work[T]) -> T:
    """Return the result of `work`, committed; retry it after a serialization failure."""
    for attempt in range(_ATTEMPTS):
        try:
            with engine.begin() as connection:
                # Those of a transaction that failed.
                connection.info.pop(_AFTER_COMMIT, None)
                result = work(connection)
                calls = connection.info.pop(_AFTER_COMMIT, {})
            for call, args in calls:
                call(*args)
            return result
        except sa.exc.DBAPIError as error:
            state = getattr(error.orig, "sqlstate", None)
            if state not in postgresql.CONFLICTS or attempt == _ATTEMPTS - 1:
                raise
        # A random wait, so that transactions in conflict do not meet again.
        time.sleep(random.uniform(0, _PAUSE_SECONDS * 2**attempt))
    raise AssertionError("unreachable")


def is_unreachable(error: Exception) -> bool:
    """Return whether an error says that PostgreSQL stops, or cannot be reached."""
    if not isinstance(error, sa.exc.OperationalError):
        return False
    return getattr(error.orig, "sqlstate", "") in postgresql.AWAY


def is_full(error: BaseException) -> bool:
    """Return whether an error or one of its causes is a full disk."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        cause = getattr(found, "orig", None) or found
        if (
            (isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT))
            or getattr(cause, "sqlite_errorcode", None) in sqlite.FULL
            or getattr(cause, "sqlstate", None) == postgresql.FULL
        ):
            return True
        found = found.__cause__ or found.__context__
    return False


def take_lock(connection: sa.Connection, name: str) -> bool:
    """Take the lock of `lock_if_free` until the end of the session, unless another has it."""
    query = sa.text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
    return bool(connection.scalar(query, {"name": f"carrel alone {name}"}))


def release_lock(connection: sa.Connection) -> None:
    """Release the lock and end the session. Its end alone would release the lock later."""
    with suppress(sa.exc.DBAPIError):
        connection.execute(sa.text("SELECT pg_advisory_unlock_all()"))
    connection.invalidate()
    connection.close()


def _turn_number(name: str) -> sa.ColumnElement[int]:
    return sa.func.hashtextextended(f"carrel turn {name}", 0)


def _is_free(connection: sa.Connection, name: str) -> bool:
    query = sa.select(sa.func.pg_try_advisory_xact_lock_shared(_turn_number(name)))
    return bool(connection.scalar(query))


def take_turns(connection: sa.Connection, name: str) -> None:
    """Serialize transactions of the same name from this call to their end."""
    if connection.dialect.name == "postgresql":
        query = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
        connection.execute(query, {"name": f"carrel {name}"})
