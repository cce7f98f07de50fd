"""Checks a backup by its hashes."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from carrel.server.backups.archive import (
    BackupError,
    Manifest,
    copy_checked,
    live_and_rows,
    read_manifest,
    sha256,
)
from carrel.server.backups.copying import Progress, files_of, for_each, gone
from carrel.server.blobs.store import BlobMissing
from carrel.server.folder import FolderLayout


async def check(backup: Path, progress: Progress) -> Manifest:
    """Reads every byte of a backup and compares it with its hash.

    Raises:
        BackupError: something is missing or damaged.
    """
    manifest = read_manifest(backup)
    layout = FolderLayout(backup)
    with TemporaryDirectory(prefix="carrel-backup-") as folder:
        records = FolderLayout(Path(folder))
        await asyncio.to_thread(copy_checked, layout, records, manifest)
        live, _ = await asyncio.to_thread(live_and_rows, records)
    read = files_of(layout.blob_folder)

    async def hashed(hash: str) -> int:
        try:
            async with read(hash) as path:
                if await asyncio.to_thread(sha256, path) != hash:
                    raise BackupError(f"The bytes {hash} are damaged. Take another backup.")
                return path.stat().st_size
        except BlobMissing:
            raise gone(hash) from None

    await for_each(hashed, sorted(live - set(manifest.missing)), progress)
    return manifest
