"""The bytes of a backup: read and copied a few at a time."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from carrel.server.admin.backups.archive import BackupError
from carrel.server.admin.live_blobs import LiveBlobs, Progress
from carrel.server.blobs.store import BlobMissing, Blobs
from carrel.system.hashes import sha256

Tell = Callable[[str], None]
ReadBlob = Callable[[str], AbstractAsyncContextManager[Path]]
"""Gives the bytes of a hash as a file to read."""

_PIECE_BYTES = 1024 * 1024


@contextmanager
def open_bucket(url: str) -> Iterator[Blobs]:
    """Yield the bytes in a bucket.

    Raises:
        BackupError: its address or its credentials are wrong.
    """
    from carrel.server.blobs.bucket import Bucket
    from carrel.server.blobs.s3 import OwnTurns, S3Blobs

    try:
        bucket = Bucket.of(url, os.environ)
    except ValueError as error:
        raise BackupError(str(error)) from error
    with TemporaryDirectory(prefix="carrel-backup-") as folder:
        # Each blob is used once.
        yield S3Blobs(bucket, Path(folder), OwnTurns(), kept_bytes=0)


async def copy_blobs(
    read: ReadBlob,
    target: Blobs,
    live: LiveBlobs,
    progress: Progress,
    lost: Collection[str] = (),
    lose: Callable[[str], None] | None = None,
) -> int:
    """Copy the bytes that the target lacks; return the total size.

    `lost` hashes are skipped; `lose` is called with every further hash that the source lacks.
    """

    async def copy(hash: str) -> int:
        if hash in lost:
            return 0
        with suppress(BlobMissing):
            return await target.size(hash)
        try:
            return await copy_blob(read, target, hash)
        except BlobMissing as error:
            if lose is None:
                raise missing_bytes(hash) from error
            lose(hash)
            return 0

    return await live.run_on_all(copy, progress)


async def copy_to_bucket(
    read: ReadBlob,
    bucket: str,
    live: LiveBlobs,
    lost: Collection[str],
    tell: Tell,
    progress: Progress,
) -> None:
    """Copy the bytes that a bucket lacks, then read all of them there.

    Bytes that an interrupted restore or another program left damaged are written once more.

    Raises:
        BackupError: the source lacks bytes, or the store gives back others than it was sent,
            or its address or credentials are wrong.
    """
    with open_bucket(bucket) as blobs:
        await copy_blobs(read, blobs, live, progress, lost)

        async def mend(hash: str) -> int:
            if hash in lost or await _is_whole(blobs, hash):
                return 0
            await copy_blob(read, blobs, hash)
            if not await _is_whole(blobs, hash):
                raise BackupError(
                    f"{bucket} gives back other bytes than it was sent, such as those of {hash}."
                    " Check the store, or restore to another one."
                )
            return 1

        tell("reading back what the store keeps")
        await live.run_on_all(mend, progress)


async def copy_blob(read: ReadBlob, target: Blobs, hash: str) -> int:
    """Copy bytes and return their number.

    Raises:
        BackupError: they do not match their hash.
    """
    async with read(hash) as path, target.writer() as writer:
        with path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
                await writer.write(piece)
        # Compared before it is published under its own hash.
        if await writer.hash() != hash:
            raise BackupError(f"The bytes {hash} are damaged at the source.")
        return (await writer.commit()).size


async def _is_whole(blobs: Blobs, hash: str) -> bool:
    try:
        async with blobs.local(hash) as path:
            return await asyncio.to_thread(sha256, path) == hash
    except BlobMissing:
        return False


def files_of(blob_folder: Path) -> ReadBlob:
    """Return a reader of the bytes in a folder, which may belong to a running server."""

    @asynccontextmanager
    async def read(hash: str) -> AsyncIterator[Path]:
        path = blob_folder / hash[:2] / hash
        if not path.is_file():
            raise BlobMissing
        yield path

    return read


def missing_bytes(hash: str) -> BackupError:
    """Return the error for bytes that a backup should have."""
    return BackupError(f"The bytes {hash} are missing in the backup. Take another one.")
