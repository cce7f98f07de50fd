"""Blobs in a local folder: `aa/<sha256>`, written so that no crash leaves a broken one."""

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from io import BufferedWriter
from pathlib import Path

from starlette.responses import FileResponse, Response

from carrel.server.blobs.store import BlobMissing, Download, Named, find_unnamed
from carrel.server.blobs.writer import BlobWriter
from carrel.system.atomic import sync_folder


class _FileResponse(FileResponse):
    # Each piece costs a hop to a thread, which for the usual 64 KiB takes longer than the read.
    chunk_size = 512 * 1024


class LocalBlobs:
    """Content-addressed bytes in one folder, which no other process writes to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / "tmp"
        self._parts.mkdir(parents=True, exist_ok=True)
        # Publishing and collecting the same bytes must not race.
        self._lock = threading.Lock()
        for part in self._parts.iterdir():
            part.unlink()

    def writer(self) -> BlobWriter:
        """Return a new blob, written piece by piece."""
        return BlobWriter(
            self._parts, lambda file, hash: asyncio.to_thread(self._publish, file, hash)
        )

    async def size(self, hash: str) -> int:
        """Return the number of the bytes."""
        # A look at one entry of a folder takes less than a hop to a thread.
        return self._stat(hash).st_size

    @asynccontextmanager
    async def local(self, hash: str) -> AsyncIterator[Path]:
        """Yield the stored file itself."""
        await self.size(hash)
        yield self._path(hash)

    async def answer(self, hash: str, download: Download) -> Response:
        """Answer with the bytes, whole or the range that the request asks for."""
        return _FileResponse(
            self._path(hash),
            stat_result=self._stat(hash),
            media_type=download.media_type,
            filename=download.filename,
            headers={**download.headers, "etag": f'"{hash}"'},
        )

    def signed_url(self, hash: str, download: Download, seconds: int) -> None:
        """Return None: a folder has no signed addresses."""

    def verify_url(self, url: str) -> None:
        """Return None: a folder has no signed addresses."""

    async def collect(self, named: Named, older_than: float) -> int:
        """Remove old blobs that no record names and return how many.

        One of the 256 folders is looked at after the other.
        """
        removed = 0
        for folder in await asyncio.to_thread(sorted, self._folder.glob("[0-9a-f][0-9a-f]")):
            hashes = await asyncio.to_thread(os.listdir, folder)
            async for some in find_unnamed(hashes, named):
                removed += await asyncio.to_thread(self._remove, folder, some, older_than)
        return removed

    async def drop_copies(self, named: Named) -> None:
        """Do nothing: a folder needs no copies."""

    async def check(self) -> None:
        """Check that the folder can be written to."""
        async with self.writer() as writer:
            await writer.write(b"")

    def _path(self, hash: str) -> Path:
        return self._folder / hash[:2] / hash

    def _stat(self, hash: str) -> os.stat_result:
        try:
            return self._path(hash).stat()
        except FileNotFoundError as error:
            raise BlobMissing from error

    def _publish(self, file: BufferedWriter, hash: str) -> None:
        """Make a finished part durable and give it its name."""
        file.flush()
        os.fsync(file.fileno())
        file.close()
        target = self._path(hash)
        with self._lock:
            if not target.parent.exists():
                target.parent.mkdir(exist_ok=True)
                sync_folder(self._folder)
            # Also when the bytes exist: the new time protects them from garbage collection.
            Path(file.name).replace(target)
            sync_folder(target.parent)

    def _remove(self, folder: Path, hashes: Collection[str], older_than: float) -> int:
        removed = 0
        for path in map(folder.joinpath, hashes):
            with self._lock:
                if time.time() - path.stat().st_mtime > older_than:
                    path.unlink()
                    removed += 1
        return removed
