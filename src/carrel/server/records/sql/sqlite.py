"""SQLite: one file, written by one connection at a time."""

import logging
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

log = logging.getLogger(__name__)

WRITERS, READERS = 1, 4
FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
"""Codes of the errors of a full disk."""
READING = {"sqlite_begin": "BEGIN"}
"""The options of a connection that only reads."""


def make_engine(url: sa.URL) -> sa.Engine:
    """Return an engine for a file in WAL mode.

    A transaction takes the write lock when it begins, so that none fails half-way because
    another wrote in between, except with the options `READING`.
    """
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=WRITERS + READERS,
        # The one used last has the pages of the last request in its cache.
        pool_use_lifo=True,
        # They hold texts of documents, which no log tells.
        hide_parameters=True,
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
            # What is deleted is overwritten, not left in a free page.
            "secure_delete = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        begin = connection.get_execution_options().get("sqlite_begin")
        if begin is None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            # It takes no lock, so it cannot fail: the driver alone is faster.
            connection.connection.execute(begin)

    return engine


def truncate_log(engine: sa.Engine) -> None:
    """Empty the write-ahead log, which keeps what was deleted until it is overwritten.

    Waits for readers of an older state, at most the busy time-out.
    """
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        log.warning("the write-ahead log could not be emptied after a delete: a reader is slow")


def read_only_engine(file: Path) -> sa.Engine:
    """Return an engine that cannot change the file; `make_engine` would bring it into WAL mode.

    Each connection is closed after its use.
    """
    return sa.create_engine(
        "sqlite://", creator=lambda: connect_read_only(file), poolclass=sa.NullPool
    )


def connect_read_only(file: Path) -> sqlite3.Connection:
    """Return the driver's own connection, which cannot change the file."""
    address = f"file:{quote(str(file))}?mode=ro"
    return sqlite3.connect(address, uri=True, check_same_thread=False)
