"""Where the servers of the tests keep things.

SQLite and a folder; with `CARREL_TEST_STORAGE=postgres` PostgreSQL and an S3 server, with
`pgvector` the same and pgvector.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.admin.keys import KeyChain
from carrel.server.datadir.folder import DataFolder, FolderLayout
from carrel.server.records.cluster import shared
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import migrate
from support.ends import ENDS
from support.postgres import postgres_server
from support.s3 import S3Server, s3_server, stored

VECTORS = os.environ.get("CARREL_TEST_STORAGE") == "pgvector"
"""Whether PostgreSQL has pgvector."""

SHARED = VECTORS or os.environ.get("CARREL_TEST_STORAGE") == "postgres"
"""Whether it is PostgreSQL and S3."""

only_alone = pytest.mark.skipif(
    SHARED, reason="is about SQLite or one server, or brings its storage"
)


def options(data: Path) -> list[str]:
    """The options of `carrel serve` on a data folder that say where it keeps things."""
    if not SHARED:
        return []
    return ["--database", database_url(data), "--blobs", _blobs(data)]


def environment() -> dict[str, str]:
    """The variables with which a server finds its storage."""
    return _s3().environment if SHARED else {}


def database_url(data: Path) -> str:
    """The address of the records of a data folder; in a shared storage they are made empty."""
    if not SHARED:
        return FolderLayout(data).database_url
    server, name = postgres_server(VECTORS), _name(data)
    return server.url(name) if server.has(name) else server.migrated(name)


def prepare(folder: DataFolder) -> None:
    """Makes the tables of a folder's records."""
    if SHARED:
        shared.join(folder, database_url(folder.path))
    else:
        migrate(folder)


@contextmanager
def connected(data: Path, *, reading: bool = False) -> Iterator[sa.Connection]:
    """A connection to the records of a data folder, committed at the end.

    One that is for reading waits for no writer.
    """
    engine = make_engine(database_url(data))
    options = {"sqlite_begin": "BEGIN"} if reading else {}
    try:
        with engine.execution_options(**options).begin() as connection:
            yield connection
    finally:
        engine.dispose()


def key_chain(data: Path) -> KeyChain:
    """The keys of a data folder's server."""
    return KeyChain(data, database_url(data) if SHARED else None)


def blobs(data: Path) -> set[str]:
    """The hashes of the bytes that a data folder's server keeps."""
    if SHARED:
        return {name for name in stored(_s3().bucket(_blobs(data))) if len(name) == 64}
    return {path.name for path in (data / "blobs").glob("[0-9a-f][0-9a-f]/*")}


def _name(data: Path) -> str:
    return hashlib.sha256(str(data.absolute()).encode()).hexdigest()[:20]


def _blobs(data: Path) -> str:
    return f"s3://tests/{_name(data)}"


@cache
def _s3() -> S3Server:
    folder = ENDS.enter_context(tempfile.TemporaryDirectory(prefix="carrel-s3-"))
    return ENDS.enter_context(s3_server(Path(folder)))
