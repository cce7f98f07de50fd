"""Backups: records, bytes and secrets of a server in one folder, made while it runs.

A backup has the layout of a data folder. The records are one snapshot, taken before the bytes
they name are copied; garbage collection waits meanwhile. A manifest is written last.
"""

import asyncio
import hashlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import sqlalchemy as sa
from pydantic import BaseModel, ValidationError

from carrel.atomic import sync_folder, write_private
from carrel.server import collecting
from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import BlobMissing, Blobs
from carrel.server.folder import FORMAT, DataFolder, FolderError, FolderLayout
from carrel.server.moving import (
    IN_PARTS,
    ReadBlob,
    copy_blob,
    copy_table,
    digest,
    in_bucket,
    tables,
)
from carrel.server.records import blobs as blob_records
from carrel.server.records import postgresql
from carrel.server.records import secrets as secret_records
from carrel.server.records.database import make_engine
from carrel.server.records.migrate import migrate, upgrade
from carrel.server.records.tables import organisations
from carrel.server.settings import FolderSettings
from carrel.server.shared import opened, require_current
from carrel.tomltext import with_value

MANIFEST = "backup.json"
_SECRETS = ("key", "secret")
_COPIED_FILES = ("settings.toml", "signing.json")
_SPARE_BYTES = 64 * 1024 * 1024
_PARALLEL = 4
_PAGES = 5000

Tell = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Is given the number of blobs that are there, and of all."""


class BackupError(Exception):
    """The backup cannot be made or restored; the message names the reason and the next step."""


class Manifest(BaseModel):
    """What a backup holds."""

    carrel: str
    """The version that made it."""
    format: int
    """The format of its records."""
    made_at: datetime
    records_sha256: str
    rows: int
    blobs: int
    bytes: int
    """The bytes of all blobs."""
    missing: list[str] = []
    """The hashes of bytes that the server itself had lost."""


@dataclass(frozen=True)
class Source:
    """A server's storage, as a backup reads it."""

    held_off: sa.Engine | FolderLayout
    """Where garbage collection is held off."""
    read: ReadBlob
    copy_records: Callable[[FolderLayout], None]
    """Copies a snapshot of the records, and the secrets, to a new folder."""


@contextmanager
def folder_source(path: Path, bucket: str | None) -> Iterator[Source]:
    """A data folder, on which a server may run.

    Raises:
        BackupError: there is none, or it has another format.
        ServerSettingsError: its settings cannot be read.
        MoveError: the bucket's address or its credentials are wrong.
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
        read: ReadBlob = _files_of(folder.blob_folder)
        if bucket:
            read = stack.enter_context(in_bucket(bucket)).local
        yield Source(folder, read, lambda target: _copy_sqlite(folder, target))


@contextmanager
def database_source(url: str, bucket: str) -> Iterator[Source]:
    """A database and a bucket, which servers may use meanwhile.

    Raises:
        SharedDatabaseError: the database cannot be used.
        MoveError: the bucket's address or its credentials are wrong.
    """
    with opened(url) as engine, in_bucket(bucket) as blobs:
        require_current(engine)
        yield Source(engine, blobs.local, lambda target: _copy_postgresql(engine, target))


async def back_up(source: Source, target: Path, tell: Tell, progress: Progress) -> Manifest:
    """Makes a backup at `target`, complete or not at all; run again, it goes on with the bytes.

    Raises:
        BackupError: something is there, or bytes are missing or damaged.
        BlobsUnavailable: the object store does not answer.
        OSError: the disk is full, or the folder cannot be written.
    """
    _refuse_existing(target)
    part = FolderLayout(target.with_name(f"{target.name}.part"))
    part.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with collecting.held_off(source.held_off, tell):
        await asyncio.to_thread(source.copy_records, part)
        live, rows = await asyncio.to_thread(_live_and_rows, part)
        tell(f"records: {rows} rows")
        blobs = LocalBlobs(part.blob_folder)
        lost = list[str]()
        size = await _copy_blobs(source.read, blobs, sorted(live), progress, lost.append)
    # An earlier attempt may have copied bytes that are not live any more.
    await blobs.collect(live, older_than=-1)
    (part.blob_folder / "tmp").rmdir()
    manifest = Manifest(
        carrel=version("carrel"),
        format=FORMAT,
        made_at=datetime.now(UTC),
        records_sha256=await asyncio.to_thread(_sha256, part.database_file),
        rows=rows,
        blobs=len(live) - len(lost),
        bytes=size,
        missing=sorted(lost),
    )
    write_private(part.path / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    part.path.rename(target)
    sync_folder(target.parent)
    return manifest


def read_manifest(backup: Path) -> Manifest:
    """What a backup holds.

    Raises:
        BackupError: there is none, it is not whole, or a newer version made it.
    """
    try:
        manifest = Manifest.model_validate_json((backup / MANIFEST).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{backup} is not a complete backup: it has no {MANIFEST}. Name a folder that"
            " “carrel backup” has finished."
        ) from None
    except (ValidationError, UnicodeDecodeError):
        raise BackupError(f"{backup / MANIFEST} is damaged. Take another backup.") from None
    if manifest.format > FORMAT:
        raise BackupError(
            f"Carrel {manifest.carrel} made this backup, with format {manifest.format}; this"
            f" version knows formats up to {FORMAT}. Install a newer Carrel."
        )
    return manifest


async def check(backup: Path, progress: Progress) -> Manifest:
    """Reads every byte of a backup and compares it with its hash.

    Raises:
        BackupError: something is missing or damaged.
    """
    manifest = read_manifest(backup)
    layout = FolderLayout(backup)
    with TemporaryDirectory(prefix="carrel-backup-") as folder:
        records = FolderLayout(Path(folder))
        await asyncio.to_thread(_copy_checked, layout, records, manifest)
        live, _ = await asyncio.to_thread(_live_and_rows, records)
    read = _files_of(layout.blob_folder)

    async def hashed(hash: str) -> int:
        try:
            async with read(hash) as path:
                if await asyncio.to_thread(_sha256, path) != hash:
                    raise BackupError(f"The bytes {hash} are damaged. Take another backup.")
                return path.stat().st_size
        except BlobMissing:
            raise _gone(hash) from None

    await _each(hashed, sorted(live - set(manifest.missing)), progress)
    return manifest


async def restore_folder(
    backup: Path, target: Path, bucket: str | None, tell: Tell, progress: Progress
) -> Manifest:
    """Restores a data folder, whole or not at all; run again, it goes on with the bytes.

    Raises:
        BackupError: the target is not empty, or the backup is damaged.
        BlobsUnavailable: the object store does not answer.
        OSError: the disk is full, or the folder cannot be written.
    """
    manifest = read_manifest(backup)
    _make_way(target)
    source, part = FolderLayout(backup), target.with_name(f"{target.name}.restoring")
    needed = source.database_file.stat().st_size * 2 + (0 if bucket else manifest.bytes)
    _require_room(target, needed - _size_of(part))
    try:
        with DataFolder(part) as folder, ExitStack() as stack:
            await asyncio.to_thread(_copy_checked, source, folder, manifest)
            folder.put_secrets(_secrets_of(source))
            _copy_files(source, folder, bucket)
            folder.format = manifest.format
            migrate(folder)
            live, _ = _live_and_rows(folder)
            blobs: Blobs
            if bucket:
                blobs = stack.enter_context(in_bucket(bucket))
            else:
                blobs = LocalBlobs(folder.blob_folder)
            hashes = sorted(live - set(manifest.missing))
            await _copy_blobs(_files_of(source.blob_folder), blobs, hashes, progress)
    except FolderError as error:
        raise BackupError(str(error)) from None
    tell(f"records: {manifest.rows} rows")
    part.rename(target)
    sync_folder(target.parent)
    return manifest


async def restore_database(
    backup: Path, url: str, bucket: str, tell: Tell, progress: Progress
) -> Manifest:
    """Restores a database and a bucket: the bytes first, then all records in one transaction.

    Raises:
        BackupError: the database has records, or the backup is damaged.
        SharedDatabaseError: the database cannot be used.
        BlobsUnavailable: the object store does not answer.
    """
    manifest = read_manifest(backup)
    source = FolderLayout(backup)
    with (
        TemporaryDirectory(prefix="carrel-restore-") as temporary,
        opened(url) as engine,
        in_bucket(bucket) as blobs,
        collecting.held_off(engine, tell),
    ):
        require_current(engine)
        _refuse_records(engine)
        with DataFolder(Path(temporary)) as records:
            await asyncio.to_thread(_copy_checked, source, records, manifest)
            records.format = manifest.format
            migrate(records)
            live, _ = _live_and_rows(records)
            hashes = sorted(live - set(manifest.missing))
            await _copy_blobs(_files_of(source.blob_folder), blobs, hashes, progress)
            await asyncio.to_thread(_insert_records, records, engine, _secrets_of(source))
    tell(f"records: {manifest.rows} rows")
    return manifest


def _copy_sqlite(source: FolderLayout, target: FolderLayout) -> None:
    target.database_file.unlink(missing_ok=True)
    # Within a read transaction the pages are those of its beginning, whatever is written.
    with (
        closing(sqlite3.connect(source.database_file, isolation_level=None)) as here,
        closing(sqlite3.connect(target.database_file)) as there,
    ):
        here.execute("BEGIN")
        here.execute("SELECT count(*) FROM alembic_version").fetchone()
        here.backup(there, pages=_PAGES)
    _finish(target, {name: (source.path / name).read_text("ascii") for name in _SECRETS})
    for name in _COPIED_FILES:
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
    _finish(target, {name: secrets[name] for name in _SECRETS if name in secrets})


def _finish(target: FolderLayout, secrets: dict[str, str]) -> None:
    """Makes the records one durable file and writes the secrets beside it."""
    with closing(sqlite3.connect(target.database_file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    target.database_file.chmod(0o600)
    with target.database_file.open("rb+") as file:
        os.fsync(file.fileno())
    for name, value in secrets.items():
        write_private(target.path / name, value)
    target.format = FORMAT


def _insert_records(records: FolderLayout, engine: sa.Engine, secrets: dict[str, str]) -> None:
    copy = make_engine(records.database_url)
    try:
        with copy.execution_options(**IN_PARTS).connect() as here, engine.begin() as there:
            for table in tables():
                copy_table(here, there, table)
                if digest(here, table) != digest(there, table):
                    raise BackupError(
                        f"The table {table.name} differs from the backup, so nothing was restored."
                        " Stop every server of the database and try again."
                    )
            secret_records.put(there, secrets)
    finally:
        copy.dispose()


def _live_and_rows(folder: FolderLayout) -> tuple[set[str], int]:
    """The hashes that the records name, and the number of rows."""
    # Not by our own engine, which would change the file.
    address = f"file:{quote(str(folder.database_file))}?mode=ro"
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True))
    try:
        with engine.connect() as connection:
            rows = sum(
                connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
                for table in tables()
            )
            return blob_records.live(connection), rows
    finally:
        engine.dispose()


def _copy_checked(source: FolderLayout, target: FolderLayout, manifest: Manifest) -> None:
    target.database_file.unlink(missing_ok=True)
    try:
        shutil.copyfile(source.database_file, target.database_file)
    except FileNotFoundError:
        raise BackupError(f"{source.database_file} is missing. Take another backup.") from None
    target.database_file.chmod(0o600)
    if _sha256(target.database_file) != manifest.records_sha256:
        raise BackupError(f"{source.database_file} is damaged. Take another backup.")


def _secrets_of(folder: FolderLayout) -> dict[str, str]:
    return {name: (folder.path / name).read_text("ascii").strip() for name in _SECRETS}


def _copy_files(source: FolderLayout, target: FolderLayout, bucket: str | None) -> None:
    for name in _COPIED_FILES:
        try:
            text = (source.path / name).read_text("utf-8")
        except FileNotFoundError:
            continue
        if name == "settings.toml":
            # The restored server must not write to the storage of the one that was backed up.
            text = with_value(with_value(text, "database", None), "blobs", None)
        write_private(target.path / name, text)
    if bucket:
        present = target.settings_file.read_text("utf-8") if target.settings_file.exists() else ""
        write_private(target.settings_file, with_value(present, "blobs", bucket))


async def _copy_blobs(
    read: ReadBlob,
    target: Blobs,
    hashes: Sequence[str],
    progress: Progress,
    lost: Callable[[str], None] | None = None,
) -> int:
    """Copies the bytes that the target lacks; returns the number of all.

    `lost` is told of those that the source lacks.
    """

    async def copied(hash: str) -> int:
        with suppress(BlobMissing):
            return await target.size(hash)
        try:
            return await copy_blob(read, target, hash)
        except BlobMissing:
            if lost is None:
                raise _gone(hash) from None
            lost(hash)
            return 0

    return await _each(copied, hashes, progress)


async def _each(
    work: Callable[[str], Awaitable[int]], hashes: Sequence[str], progress: Progress
) -> int:
    """Runs the work for every hash, a few at a time; returns the sum."""
    waiting = iter(hashes)
    done = total = 0

    async def run() -> None:
        nonlocal done, total
        for hash in waiting:
            size = await work(hash)
            done, total = done + 1, total + size
            progress(done, len(hashes))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(_PARALLEL):
                group.create_task(run())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return total


def _files_of(blob_folder: Path) -> ReadBlob:
    """Reads the bytes in a folder, which may belong to a running server."""

    @asynccontextmanager
    async def read(hash: str) -> AsyncIterator[Path]:
        path = blob_folder / hash[:2] / hash
        if not path.is_file():
            raise BlobMissing
        yield path

    return read


def _gone(hash: str) -> BackupError:
    return BackupError(f"The bytes {hash} are missing in the backup. Take another one.")


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise BackupError(f"{target} exists. Name a new folder; nothing is overwritten.")


def _make_way(target: Path) -> None:
    """Removes an empty folder; anything else stays in the way."""
    with suppress(OSError):
        target.rmdir()
    _refuse_existing(target)


def _refuse_records(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        if connection.scalar(sa.select(sa.func.count()).select_from(organisations)):
            raise BackupError(
                "The database has records of a server. Restore into an empty one: createdb, then"
                " carrel migrate."
            )


def _require_room(target: Path, needed: int) -> None:
    folder = next(parent for parent in target.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise BackupError(
            f"The backup needs {needed / 1e6:,.0f} MB in {folder}, where {free / 1e6:,.0f} MB are"
            " free. Free some space, or restore elsewhere."
        )


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
