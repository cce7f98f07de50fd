"""The bytes of a backup: read and copied a few at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from carrel.server.backups.archive import BackupError, sha256
from carrel.server.blobs.store import BlobMissing, Blobs
from carrel.server.moving import ReadBlob, Tell, copy_blob, in_bucket

_PARALLEL = 4

Progress = Callable[[int, int], None]
"""Is given the number of blobs that are there, and of all."""


async def copy_blobs(
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
                raise gone(hash) from None
            lost(hash)
            return 0

    return await for_each(copied, hashes, progress)


async def copy_to_bucket(
    read: ReadBlob, bucket: str, hashes: Sequence[str], tell: Tell, progress: Progress
) -> None:
    """Copies the bytes that a bucket lacks, then reads all of them there.

    What a restore that broke off, or another program, left damaged is written once more.

    Raises:
        BackupError: the source lacks bytes, or the store gives back others than it was sent.
        MoveError: the bucket's address or its credentials are wrong.
    """
    with in_bucket(bucket) as blobs:
        await copy_blobs(read, blobs, hashes, progress)
    tell("reading back what the store keeps")
    damaged = await _damaged(bucket, hashes, progress)
    if not damaged:
        return
    with in_bucket(bucket) as blobs:
        for hash in damaged:
            await copy_blob(read, blobs, hash)
    if still := await _damaged(bucket, damaged, progress):
        raise BackupError(
            f"{bucket} gives back other bytes than it was sent, such as those of {still[0]}. Check"
            " the store, or restore to another one."
        )


async def _damaged(bucket: str, hashes: Sequence[str], progress: Progress) -> list[str]:
    """The hashes of which a bucket has other bytes, or none."""
    damaged = list[str]()

    async def compare(hash: str) -> int:
        try:
            async with blobs.local(hash) as path:
                same = await asyncio.to_thread(sha256, path) == hash
        except BlobMissing:
            same = False
        if not same:
            damaged.append(hash)
        return 0

    # Opened anew, it has no local copies of what was sent.
    with in_bucket(bucket) as blobs:
        await for_each(compare, hashes, progress)
    return damaged


async def for_each(
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


def files_of(blob_folder: Path) -> ReadBlob:
    """Reads the bytes in a folder, which may belong to a running server."""

    @asynccontextmanager
    async def read(hash: str) -> AsyncIterator[Path]:
        path = blob_folder / hash[:2] / hash
        if not path.is_file():
            raise BlobMissing
        yield path

    return read


def gone(hash: str) -> BackupError:
    """The error for bytes that a backup should have."""
    return BackupError(f"The bytes {hash} are missing in the backup. Take another one.")
