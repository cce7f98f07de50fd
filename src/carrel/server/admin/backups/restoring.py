"""Restores a backup to a data folder, or to a database and a bucket, or checks it."""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from carrel.config.toml_edit import with_value
from carrel.server.admin.backups.archive import (
    COPIED_FILES,
    BackupError,
    Manifest,
    copy_checked,
    live_blobs,
    read_manifest,
    refuse_existing,
)
from carrel.server.admin.backups.copying import (
    Tell,
    copy_blobs,
    copy_to_bucket,
    files_of,
    missing_bytes,
)
from carrel.server.admin.backups.rows import IN_PARTS, copy_table, digest, tables
from carrel.server.admin.live_blobs import Progress
from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import BlobMissing
from carrel.server.datadir.folder import DataFolder, FolderError, FolderLayout
from carrel.server.housekeeping import gc_pause as collecting
from carrel.server.records.cluster import secrets as secret_records
from carrel.server.records.cluster.shared import open_engine, require_current
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import migrate
from carrel.server.records.sql.tables import organisations
from carrel.system.atomic import sync_folder, write_private
from carrel.system.hashes import sha256

_SPARE_BYTES = 64 * 1024 * 1024
"""Space that a restoration leaves free."""


async def check(backup: Path, progress: Progress) -> Manifest:
    """Read every byte of a backup and compare it with its hash.

    Raises:
        BackupError: something is missing or damaged.
    """
    manifest = read_manifest(backup)
    missing = set(manifest.missing)
    layout = FolderLayout(backup)
    read = files_of(layout.blob_folder)

    async def hash_blob(hash: str) -> int:
        if hash in missing:
            return 0
        try:
            async with read(hash) as path:
                if await asyncio.to_thread(sha256, path) != hash:
                    raise BackupError(f"The bytes {hash} are damaged. Take another backup.")
                return path.stat().st_size
        except BlobMissing as error:
            raise missing_bytes(hash) from error

    with TemporaryDirectory(prefix="carrel-backup-") as folder:
        records = FolderLayout(Path(folder))
        await asyncio.to_thread(copy_checked, layout, records, manifest)
        await live_blobs(records).run_on_all(hash_blob, progress)
    return manifest


async def restore_folder(
    backup: Path, target: Path, bucket: str | None, tell: Tell, progress: Progress
) -> Manifest:
    """Restore a complete data folder, or none; a second run copies the missing bytes.

    Raises:
        BackupError: the target is not empty, or the backup is damaged.
        BlobsUnavailable: the object store does not answer.
        OSError: the disk is full, or the folder cannot be written.
    """
    manifest = read_manifest(backup)
    _make_way(target)
    source, part = FolderLayout(backup), target.with_name(f"{target.name}.restoring")
    # Twice the records: a migration copies them first.
    needed = source.database_file.stat().st_size * 2 + (0 if bucket else manifest.bytes)
    there = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
    _require_room(target, needed - there)
    try:
        with DataFolder(part) as folder:
            await asyncio.to_thread(copy_checked, source, folder, manifest)
            folder.put_secrets(source.secrets)
            _copy_files(source, folder, bucket)
            folder.format = manifest.format
            migrate(folder)
            live, read = live_blobs(folder), files_of(source.blob_folder)
            lost = set(manifest.missing)
            if bucket:
                await copy_to_bucket(read, bucket, live, lost, tell, progress)
            else:
                await copy_blobs(read, LocalBlobs(folder.blob_folder), live, progress, lost)
    except FolderError as error:
        raise BackupError(str(error)) from error
    tell(f"records: {manifest.rows:,} rows")
    part.rename(target)
    sync_folder(target.parent)
    return manifest


async def restore_database(
    backup: Path, url: str, bucket: str, tell: Tell, progress: Progress
) -> Manifest:
    """Restore a database and a bucket: the bytes first, then all records in one transaction.

    Raises:
        BackupError: the database has records, the backup is damaged, or the store is.
        SharedDatabaseError: the database cannot be used.
        BlobsUnavailable: the object store does not answer.
    """
    manifest = read_manifest(backup)
    source = FolderLayout(backup)
    with (
        TemporaryDirectory(prefix="carrel-restore-") as temporary,
        open_engine(url) as engine,
        collecting.hold_off(engine, tell),
    ):
        require_current(engine)
        _refuse_records(engine)
        with DataFolder(Path(temporary)) as records:
            await asyncio.to_thread(copy_checked, source, records, manifest)
            records.format = manifest.format
            migrate(records)
            live, read = live_blobs(records), files_of(source.blob_folder)
            lost = set(manifest.missing)
            await copy_to_bucket(read, bucket, live, lost, tell, progress)
            await asyncio.to_thread(_insert_records, records, engine, source.secrets)
    tell(f"records: {manifest.rows:,} rows")
    return manifest


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


def _copy_files(source: FolderLayout, target: FolderLayout, bucket: str | None) -> None:
    for name in COPIED_FILES:
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


def _make_way(target: Path) -> None:
    """Remove an empty folder; leave anything else in the way."""
    with suppress(OSError):
        target.rmdir()
    refuse_existing(target)


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
