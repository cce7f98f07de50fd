"""A blob on its way into a store: written to a local file, and hashed while it is written."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4


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

    async def __aenter__(self) -> "BlobWriter":
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.abort()

    async def write(self, data: bytes) -> None:
        """Append bytes."""
        await asyncio.to_thread(self._write, data)

    @property
    def hash(self) -> str:
        """The hash of what was written."""
        return self._hash.hexdigest()

    async def commit(self) -> Blob:
        """Make the bytes durable under their hash."""
        await asyncio.to_thread(self._file.close)
        blob = Blob(self.hash, self._size)
        await self._publish(self._part, blob.hash)
        return blob

    def abort(self) -> None:
        """Remove an uncommitted blob; do nothing after a commit."""
        self._file.close()
        self._part.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self._size += len(data)
