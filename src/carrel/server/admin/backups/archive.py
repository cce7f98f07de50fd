"""The folder of a backup: its manifest, and its records."""

import shutil
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from pydantic import BaseModel, ValidationError

from carrel.server.admin.backups.rows import tables
from carrel.server.admin.live_blobs import LiveBlobs
from carrel.server.datadir.folder import FORMAT, FolderLayout
from carrel.server.records.sql import sqlite
from carrel.system.hashes import sha256

MANIFEST = "backup.json"
SECRETS = ("key", "secret")
"""Files without which no API key is accepted."""
COPIED_FILES = ("settings.toml", "signing.json")
"""Files that a data folder may lack."""


class BackupError(Exception):
    """The backup cannot be made or restored; the message names the reason and the next step."""


class Manifest(BaseModel):
    """The contents of a backup."""

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


def read_manifest(backup: Path) -> Manifest:
    """Return the contents of a backup.

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
    except (ValidationError, UnicodeDecodeError) as error:
        raise BackupError(f"{backup / MANIFEST} is damaged. Take another backup.") from error
    if manifest.format > FORMAT:
        raise BackupError(
            f"Carrel {manifest.carrel} made this backup, with format {manifest.format}; this"
            f" version knows formats up to {FORMAT}. Install a newer Carrel."
        )
    return manifest


def copy_checked(source: FolderLayout, target: FolderLayout, manifest: Manifest) -> None:
    """Copy the records of a backup and compare them with its manifest.

    Raises:
        BackupError: they are missing or damaged.
    """
    target.database_file.unlink(missing_ok=True)
    try:
        shutil.copyfile(source.database_file, target.database_file)
    except FileNotFoundError as error:
        raise BackupError(f"{source.database_file} is missing. Take another backup.") from error
    target.database_file.chmod(0o600)
    if sha256(target.database_file) != manifest.records_sha256:
        raise BackupError(f"{source.database_file} is damaged. Take another backup.")


def live_blobs(folder: FolderLayout) -> LiveBlobs:
    """Return the blobs that the records of a backup name."""
    return LiveBlobs(sqlite.read_only_engine(folder.database_file).connect)


def count_rows(folder: FolderLayout) -> int:
    """Return the number of rows of a backup."""
    with sqlite.read_only_engine(folder.database_file).connect() as connection:
        return sum(
            connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in tables()
        )


def refuse_existing(target: Path) -> None:
    """Refuse a target that exists.

    Raises:
        BackupError: something is there.
    """
    if target.exists():
        raise BackupError(f"{target} exists. Name a new folder; nothing is overwritten.")
