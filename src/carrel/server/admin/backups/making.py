"""Makes a backup of a server's storage, which servers may use meanwhile."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import sqlalchemy as sa

from carrel.server.admin.backups.archive import (
    COPIED_FILES,
    MANIFEST,
    SECRETS,
    BackupError,
    Manifest,
    count_rows,
    live_blobs,
    refuse_existing,
)
from carrel.server.admin.backups.copying import ReadBlob, Tell, copy_blobs, files_of, open_bucket
from carrel.server.admin.backups.rows import IN_PARTS, copy_table, digest, tables
from carrel.server.admin.live_blobs import Progress
from carrel.server.blobs.local import LocalBlobs
from carrel.server.datadir.folder import FORMAT, FolderLayout
from carrel.server.housekeeping import gc_pause as collecting
from carrel.server.records.cluster import secrets as secret_records
from carrel.server.records.cluster.shared import open_engine, require_current
from carrel.server.records.sql import postgresql
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import upgrade
from carrel.server.settings import FolderSettings
from carrel.system.atomic import sync_folder, write_private
from carrel.system.hashes import sha256

_PAGES = 5000
"""Pages of SQLite that are copied at a time."""


@dataclass(frozen=True)
class Source:
    """A server's storage, as a backup reads it."""

    held_off: sa.Engine | FolderLayout
    """The place at which garbage collection is held off."""
    read: ReadBlob
    copy_records: Callable[[FolderLayout], None]
    """Copies a snapshot of the records, and the secrets, to a new folder."""


@contextmanager
def folder_source(path: Path, bucket: str | None) -> Iterator[Source]:
    """Yield a data folder, on which a server may run.

    Raises:
        BackupError: there is none, it has another format, or the bucket's address or
            credentials are wrong.
        ServerSettingsError: its settings cannot be read.
    """
    folder = FolderLayout(path)
    if not folder.database_file.is_file():
        raise BackupError(f"There is no server's data in {path}. Name its folder with --data.")
    if folder.format != FORMAT:
        raise BackupError(
            f"{path} has format {folder.format}; this version of Carrel backs up format {FORMAT}."
            " Start its server once with this version, or back up with the server's own version."
        )
    bucket = bucket or FolderSettings.load(folder.settings_file).blobs
    with ExitStack() as stack:
        read: ReadBlob = files_of(folder.blob_folder)
        if bucket:
            read = stack.enter_context(open_bucket(bucket)).local
        yield Source(folder, read, lambda target: _copy_sqlite(folder, target))


@contextmanager
def database_source(url: str, bucket: str) -> Iterator[Source]:
    """Yield a database and a bucket, which servers may use meanwhile.

    Raises:
        SharedDatabaseError: the database cannot be used.
        BackupError: the bucket's address or its credentials are wrong.
    """
    with open_engine(url) as engine, open_bucket(bucket) as blobs:
        require_current(engine)
        yield Source(engine, blobs.local, lambda target: _copy_postgresql(engine, target))


async def back_up(source: Source, target: Path, tell: Tell, progress: Progress) -> Manifest:
    """Make a complete backup at `target`, or none; a second run copies the missing bytes.

    Raises:
        BackupError: something is there, or bytes are missing or damaged.
        BlobsUnavailable: the object store does not answer.
        OSError: the disk is full, or the folder cannot be written.
    """
    refuse_existing(target)
    part = FolderLayout(target.with_name(f"{target.name}.part"))
    part.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Held from before the snapshot to the last copy: bytes that the snapshot names must stay.
    with collecting.hold_off(source.held_off, tell):
        await asyncio.to_thread(source.copy_records, part)
        rows = await asyncio.to_thread(count_rows, part)
        tell(f"records: {rows:,} rows")
        blobs, live, lost = LocalBlobs(part.blob_folder), live_blobs(part), list[str]()
        size = await copy_blobs(source.read, blobs, live, progress, lose=lost.append)
    # An earlier attempt may have copied bytes that are not live any more.
    await blobs.collect(live.find_named, older_than=-1)
    (part.blob_folder / "tmp").rmdir()
    manifest = Manifest(
        carrel=version("carrel"),
        format=FORMAT,
        made_at=datetime.now(UTC),
        records_sha256=await asyncio.to_thread(sha256, part.database_file),
        rows=rows,
        blobs=await asyncio.to_thread(live.count) - len(lost),
        bytes=size,
        missing=sorted(lost),
    )
    # The manifest comes last: a folder that has one is a whole backup.
    write_private(part.path / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    part.path.rename(target)
    sync_folder(target.parent)
    return manifest


def _copy_sqlite(source: FolderLayout, target: FolderLayout) -> None:
    target.database_file.unlink(missing_ok=True)
    # Within a read transaction the pages are those of its beginning, whatever is written.
    with (
        closing(sqlite3.connect(source.database_file, isolation_level=None)) as here,
        closing(sqlite3.connect(target.database_file)) as there,
    ):
        here.execute("BEGIN")
        # BEGIN takes no snapshot yet; the first read does.
        here.execute("SELECT count(*) FROM alembic_version").fetchone()
        here.backup(there, pages=_PAGES)
    _finish(target, source.secrets)
    for name in COPIED_FILES:
        with suppress(FileNotFoundError):
            write_private(target.path / name, (source.path / name).read_text("utf-8"))


def _copy_postgresql(source: sa.Engine, target: FolderLayout) -> None:
    target.database_file.unlink(missing_ok=True)
    engine = make_engine(target.database_url)
    try:
        with source.execution_options(**postgresql.READING, **IN_PARTS).begin() as here:
            with engine.begin() as there:
                upgrade(there)
            for table in tables():
                with engine.begin() as there:
                    copy_table(here, there, table)
                    if digest(here, table) != digest(there, table):
                        raise BackupError(f"The copy of the table {table.name} differs. Try again.")
            secrets = secret_records.get(here)
    finally:
        engine.dispose()
    _finish(target, {name: secrets[name] for name in SECRETS if name in secrets})


def _finish(target: FolderLayout, secrets: dict[str, str]) -> None:
    """Make the records one durable file and write the secrets beside it."""
    with closing(sqlite3.connect(target.database_file)) as connection:
        # This moves the write-ahead log into the file.
        connection.execute("PRAGMA journal_mode = DELETE")
    target.database_file.chmod(0o600)
    with target.database_file.open("rb+") as file:
        os.fsync(file.fileno())
    for name, value in secrets.items():
        write_private(target.path / name, value)
    target.format = FORMAT
