"""Checks a backup by its hashes."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from carrel.server.admin.backups.archive import (
    BackupError,
    Manifest,
    copy_checked,
    live_blobs,
    read_manifest,
)
from carrel.server.admin.backups.copying import files_of, missing_bytes
from carrel.server.admin.live_blobs import Progress
from carrel.server.blobs.store import BlobMissing
from carrel.server.datadir.folder import FolderLayout
from carrel.system.hashes import sha256


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
        await live_blobs(records).each(hash_blob, progress)
    return manifest
