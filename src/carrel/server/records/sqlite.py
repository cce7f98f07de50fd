"""SQLite: one file, written by one connection at a time."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

WRITERS, READERS = 1, 4
READING = {"sqlite_begin": "BEGIN"}
"""The options of a connection that only reads."""


def make_engine(url: sa.URL) -> sa.Engine:
    """An engine for a file in WAL mode.

    A transaction takes the write lock when it begins, so that none fails half-way because
    another wrote in between, except with the options `READING`.
    """
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=WRITERS + READERS,
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


def read_only_engine(file: Path) -> sa.Engine:
    """An engine that cannot change the file; `make_engine` would bring it into WAL mode.

    Each connection is closed after its use.
    """
    return sa.create_engine(
        "sqlite://", creator=lambda: connect_read_only(file), poolclass=sa.NullPool
    )


@contextmanager
def read_only(file: Path) -> Iterator[sa.Connection]:
    """A connection that cannot change the file."""
    with read_only_engine(file).connect() as connection:
        yield connection


def connect_read_only(file: Path) -> sqlite3.Connection:
    """The driver's own connection, which cannot change the file."""
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)
