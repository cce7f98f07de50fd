"""Moves what a server keeps from one storage to another: records and bytes, by count and hash."""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from carrel.server.admin.live_blobs import LiveBlobs
from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import BlobMissing, Blobs
from carrel.server.datadir.folder import DataFolder
from carrel.server.records.cluster import secrets as secret_records
from carrel.server.records.cluster.shared import opened, require_current
from carrel.server.records.sql import plain
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import migrate
from carrel.server.records.sql.postgresql import as_json
from carrel.server.records.sql.tables import metadata, organisations, secrets, words, workers
from carrel.server.settings import FolderSettings

Tell = Callable[[str], None]
ReadBlob = Callable[[str], AbstractAsyncContextManager[Path]]
"""Gives the bytes of a hash as a file to read."""

# Counted by the database itself, or each storage's own.
_LEFT_OUT = {words, secrets, workers}
_ROWS = 500
IN_PARTS: dict[str, Any] = {"stream_results": True, "yield_per": _ROWS}
"""The options of a connection whose rows come in parts: a table need not fit into memory."""
_PIECE_BYTES = 1024 * 1024
_TOLD_BLOBS = 1000
"""Blobs between two signs of progress."""


class MoveError(Exception):
    """The move cannot go on; the message names the reason and the next step."""


@dataclass(frozen=True)
class Storage:
    """What a server keeps: records, bytes, and the secrets that keys and addresses depend on."""

    engine: sa.Engine
    blobs: Blobs
    secrets: Callable[[], dict[str, str]]
    put_secrets: Callable[[dict[str, str]], None]


@contextmanager
def in_folder(path: Path) -> Iterator[Storage]:
    """Yield the storage of a data folder, on which no server runs meanwhile.

    Raises:
        FolderError: a server runs on it, or it cannot be used.
        ServerSettingsError: its settings cannot be read.
    """
    with DataFolder(path) as folder:
        migrate(folder)
        bucket = FolderSettings.load(folder.settings_file).blobs
        blobs = LocalBlobs(folder.blob_folder) if bucket is None else None
        engine = make_engine(folder.database_url)
        try:
            with in_bucket(bucket) if bucket else nullcontext(blobs) as found:
                assert found is not None
                yield Storage(engine, found, lambda: folder.secrets, folder.put_secrets)
        finally:
            engine.dispose()


@contextmanager
def in_database(url: str, bucket: str) -> Iterator[Storage]:
    """Yield the storage of servers that share a database and a bucket.

    Raises:
        SharedDatabaseError: the database cannot be used.
        MoveError: the bucket's address or its credentials are wrong.
    """
    with opened(url) as engine, in_bucket(bucket) as blobs:
        require_current(engine)

        def get() -> dict[str, str]:
            with engine.begin() as connection:
                return secret_records.get(connection)

        def put(values: dict[str, str]) -> None:
            with engine.begin() as connection:
                secret_records.put(connection, values)

        yield Storage(engine, blobs, get, put)


@contextmanager
def in_bucket(url: str) -> Iterator[Blobs]:
    """Yield the bytes in a bucket.

    Raises:
        MoveError: its address or its credentials are wrong.
    """
    from carrel.server.blobs.bucket import Bucket
    from carrel.server.blobs.s3 import OwnTurns, S3Blobs

    try:
        bucket = Bucket.of(url, os.environ)
    except ValueError as error:
        raise MoveError(str(error)) from error
    with TemporaryDirectory(prefix="carrel-move-") as folder:
        # Each blob is used once.
        yield S3Blobs(bucket, Path(folder), OwnTurns(), kept_bytes=0)


async def move(source: Storage, target: Storage, tell: Tell) -> int:
    """Copy everything that the target lacks, then compare both; the source stays as it is.

    One that was cut short goes on where it was. Bytes come before the records that name them.
    Returns the number of rows.

    Raises:
        MoveError: the target has records of another server, or both differ in the end.
        BlobsUnavailable: a store of bytes does not answer.
    """
    await asyncio.to_thread(_refuse_others, source, target)
    await _copy_blobs(source, target, tell)
    target.put_secrets(source.secrets())
    rows = 0
    for table in tables():
        copied = await asyncio.to_thread(_copy_rows, source, target, table)
        before, after = await asyncio.to_thread(_both_digests, source, target, table)
        if before != after:
            raise MoveError(
                f"The table {table.name} has {before[0]} rows here and {after[0]} there, and they"
                " differ. Stop every server of both, then move again."
            )
        rows += after[0]
        tell(f"{table.name}: {after[0]} row{'' if after[0] == 1 else 's'}, {copied} of them new")
    return rows


def tables() -> Iterator[sa.Table]:
    """Return the tables to copy, those that others refer to first."""
    return (table for table in metadata.sorted_tables if table not in _LEFT_OUT)


def _refuse_others(source: Storage, target: Storage) -> None:
    query = sa.select(organisations.c.id)
    with source.engine.connect() as here, target.engine.connect() as there:
        if set(there.scalars(query)) - set(here.scalars(query)):
            raise MoveError("The target has records of another server. Choose an empty one.")


async def _copy_blobs(source: Storage, target: Storage, tell: Tell) -> None:
    new = total = 0

    async def copy(hash: str) -> int:
        try:
            return await target.blobs.size(hash)
        except BlobMissing:
            nonlocal new
            new += 1
            return await copy_blob(source.blobs.local, target.blobs, hash)

    def progress(done: int, count: int) -> None:
        nonlocal total
        total = count
        if done % _TOLD_BLOBS == 0:
            tell(f"bytes: {done:,} of {count:,} blobs")

    await LiveBlobs(source.engine.connect).each(copy, progress)
    tell(f"bytes: {total:,} blob{'' if total == 1 else 's'}, {new:,} of them new")


async def copy_blob(read: ReadBlob, target: Blobs, hash: str) -> int:
    """Copy bytes and return their number.

    Raises:
        MoveError: they are not those of their hash.
    """
    async with read(hash) as path, target.writer() as writer:
        with path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
                await writer.write(piece)
        # Compared before it is published under its own hash.
        if writer.hash != hash:
            raise MoveError(f"The bytes {hash} are damaged at the source.")
        return (await writer.commit()).size


def _copy_rows(source: Storage, target: Storage, table: sa.Table) -> int:
    """Copy the rows whose keys the target lacks and return their number."""
    copied = 0
    with _begin_reading(source.engine) as here:
        every = plain.select(here, table)
        while rows := list(islice(every, _ROWS)):
            with target.engine.begin() as there:
                known = _known_keys(there, table, rows)
                new = [row for row in rows if _key(table, row) not in known]
                plain.insert(there, table, new)
                copied += len(new)
    return copied


def copy_table(here: sa.Connection, there: sa.Connection, table: sa.Table) -> None:
    """Copy every row of a table to an empty one."""
    every = plain.select(here, table)
    while rows := list(islice(every, _ROWS)):
        plain.insert(there, table, rows)


def _known_keys(
    connection: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]
) -> set[tuple[Any, ...]]:
    keys = list(table.primary_key)
    asked = [_key(table, row) for row in rows]
    found = connection.execute(sa.select(*keys).where(sa.tuple_(*keys).in_(asked)))
    return {tuple(row) for row in found}


def _key(table: sa.Table, row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.primary_key)


def _both_digests(
    source: Storage, target: Storage, table: sa.Table
) -> tuple[tuple[int, int], tuple[int, int]]:
    with _begin_reading(source.engine) as here, _begin_reading(target.engine) as there:
        return digest(here, table), digest(there, table)


def digest(connection: sa.Connection, table: sa.Table) -> tuple[int, int]:
    """Return the number of a table's rows and the sum of their hashes, whatever their order."""
    count = total = 0
    for row in plain.select(connection, table):
        hashed = hashlib.sha256(_canonical(table, row)).digest()
        total = (total + int.from_bytes(hashed)) % 2**256
        count += 1
    return count, total


def _canonical(table: sa.Table, row: dict[str, Any]) -> bytes:
    """Return a row in the form that both databases have it in."""
    values = {}
    for column in table.c:
        value = row[column.name]
        if isinstance(value, bytes):
            value = value.hex()
        elif isinstance(column.type, sa.JSON) and value is not None:
            value = json.loads(value)
        values[column.name] = value
    return as_json(values).encode()


def _begin_reading(engine: sa.Engine) -> sa.Connection:
    return engine.connect().execution_options(**IN_PARTS)
