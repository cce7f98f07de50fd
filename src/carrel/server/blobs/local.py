"""Blobs in a local folder: `aa/<sha256>`, written so that no crash leaves a broken one."""

import asyncio
import hashlib
import os
import threading
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Blob:
    """Stored bytes: their SHA-256 in hexadecimal and their number."""

    hash: str
    size: int


def sync_folder(folder: Path) -> None:
    """Makes a folder's entries durable, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class LocalBlobs:
    """Content-addressed bytes in one folder, which no other process writes to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / "tmp"
        self._parts.mkdir(parents=True, exist_ok=True)
        # Publishing and collecting the same bytes must not overtake each other.
        self._lock = threading.Lock()
        for part in self._parts.iterdir():
            part.unlink()

    def writer(self) -> "BlobWriter":
        """A new blob to be written piece by piece."""
        return BlobWriter(self, self._parts / f"{uuid.uuid4().hex}.part")

    async def put(self, data: bytes) -> Blob:
        """Stores bytes that are already in memory."""
        async with self.writer() as writer:
            await writer.write(data)
            return await writer.commit()

    def path(self, hash: str) -> Path:
        """Where the bytes of a hash are, or would be."""
        return self._folder / hash[:2] / hash

    def publish(self, part: Path, hash: str) -> None:
        """Gives a finished and synced part its name; blocking."""
        target = self.path(hash)
        with self._lock:
            if not target.parent.exists():
                target.parent.mkdir(exist_ok=True)
                sync_folder(self._folder)
            # Also when the bytes are there already: the new time keeps them from the collector.
            part.replace(target)
            sync_folder(target.parent)

    def collect(self, live: Collection[str], older_than: float) -> int:
        """Removes blobs that no record names and that are older than so many seconds; blocking.

        The age protects bytes that were stored and whose record is about to be written.
        Returns the number removed.
        """
        removed = 0
        for path in self._folder.glob("[0-9a-f][0-9a-f]/*"):
            if path.name in live:
                continue
            with self._lock:
                if time.time() - path.stat().st_mtime > older_than:
                    path.unlink()
                    removed += 1
        return removed


class BlobWriter:
    """One blob on its way to disk; as a context, what is not committed is removed."""

    def __init__(self, blobs: LocalBlobs, part: Path) -> None:
        self._blobs = blobs
        self._part = part
        self._file = part.open("xb")
        self._hash = hashlib.sha256()
        self.size = 0

    async def __aenter__(self) -> "BlobWriter":
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.abort()

    async def write(self, data: bytes) -> None:
        """Appends bytes."""
        await asyncio.to_thread(self._write, data)

    async def commit(self) -> Blob:
        """Makes the bytes durable under their hash."""
        return await asyncio.to_thread(self._commit)

    def abort(self) -> None:
        """Removes what was not committed; harmless afterwards."""
        self._file.close()
        self._part.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def _commit(self) -> Blob:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        blob = Blob(self._hash.hexdigest(), self.size)
        self._blobs.publish(self._part, blob.hash)
        return blob
