"""A blob on its way into a store: written to a local file, and hashed while it is written."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Blob:
    """Stored bytes: their SHA-256 in hexadecimal and their number."""

    hash: str
    size: int


class BlobWriter:
    """A blob being written; a context manager that removes it unless it was committed.

    Its name is known at the end only, so the bytes go to a file of their own: `publish` moves
    it when it is complete.
    """

    def __init__(self, folder: Path, publish: Callable[[Path, str], Awaitable[None]]) -> None:
        self._part = folder / f"{uuid4().hex}.part"
        self._publish = publish
        self._file = self._part.open("xb")
        self._hash = hashlib.sha256()
        self._size = 0
        self._writing: asyncio.Future[None] | None = None

    async def __aenter__(self) -> "BlobWriter":
        return self

    async def __aexit__(self, *exception: object) -> None:
        try:
            if self._writing is not None:
                await asyncio.wait([self._writing])
        finally:
            self._file.close()
            self._part.unlink(missing_ok=True)

    async def write(self, *pieces: Buffer) -> None:
        """Append bytes while the caller gets the next ones.

        The next call waits until they are written, and raises the error if that failed.
        """
        await self._written()
        loop = asyncio.get_running_loop()
        self._writing = loop.run_in_executor(None, self._write, pieces)

    async def hash(self) -> str:
        """Return the hash of what was written."""
        await self._written()
        return self._hash.hexdigest()

    async def commit(self) -> Blob:
        """Make the bytes durable under their hash."""
        blob = Blob(await self.hash(), self._size)
        await asyncio.to_thread(self._file.close)
        await self._publish(self._part, blob.hash)
        return blob

    async def _written(self) -> None:
        if self._writing is not None:
            await self._writing

    def _write(self, pieces: tuple[Buffer, ...]) -> None:
        for piece in pieces:
            self._size += self._file.write(piece)
            self._hash.update(piece)
