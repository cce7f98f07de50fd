"""The database: one thread that writes, a few that read."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

T = TypeVar("T")
Work = Callable[[sa.Connection], T]

_READERS = 4


def make_engine(url: str) -> sa.Engine:
    """An engine for a SQLite file in WAL mode.

    A transaction takes the write lock when it begins, so that none fails half-way because
    another wrote in between; the option `sqlite_begin="BEGIN"` is for those that only read.
    """
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=_READERS + 1,
        connect_args={"check_same_thread": False, "timeout": 5},
    )

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, record: object) -> None:
        # SQLAlchemy's own "begin" below replaces the driver's late and partial one.
        connection.isolation_level = None
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "busy_timeout = 5000",
            "foreign_keys = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        options = connection.get_execution_options()
        connection.exec_driver_sql(options.get("sqlite_begin", "BEGIN IMMEDIATE"))

    return engine


class Database:
    """The records of a server.

    `read` and `write` take a function of a connection and run it in a thread: writes one
    after another, each in a transaction that commits when the function returns and rolls
    back when it raises; reads side by side, each on one consistent snapshot.
    """

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        self._reading = self.engine.execution_options(sqlite_begin="BEGIN")
        self._writer = ThreadPoolExecutor(1, "database-writer")
        self._readers = ThreadPoolExecutor(_READERS, "database-reader")

    async def read(self, work: Work[T]) -> T:
        """What `work` returns, run in a reader thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, work)

    async def write(self, work: Work[T]) -> T:
        """What `work` returns, run in the writer thread and committed."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, self._write, work)

    def _read(self, work: Work[T]) -> T:
        with self._reading.begin() as connection:
            return work(connection)

    def _write(self, work: Work[T]) -> T:
        with self.engine.begin() as connection:
            return work(connection)

    def close(self) -> None:
        """Waits for what is running and closes every connection."""
        self._writer.shutdown()
        self._readers.shutdown()
        self.engine.dispose()
