"""A blob on its way into a store: written to a local file, and hashed while it is written."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedWriter, FileIO
from pathlib import Path
from threading import Lock
from uuid import uuid4

_AHEAD = 3
"""Calls of `write` that may be pending: one is written and one hashed while the next arrives."""

_BUFFER_BYTES = 16 * 1024
"""Bytes that wait in memory to be written: a small file needs no thread before it is stored."""

Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Blob:
    """Stored bytes: their SHA-256 in hexadecimal and their number."""

    hash: str
    size: int


class BlobWriter:
    """A blob being written; a context manager that removes it unless it was committed.

    Its name is known at the end only, so the bytes go to a file of their own: `publish` closes
    and moves it when it is complete.
    """

    def __init__(
        self, folder: Path, publish: Callable[[BufferedWriter, str], Awaitable[None]]
    ) -> None:
        self._part = folder / f"{uuid4().hex}.part"
        self._publish = publish
        self._file: BufferedWriter = BufferedWriter(FileIO(self._part, "xb"), _BUFFER_BYTES)
        self._hash = hashlib.sha256()
        self._size = 0
        self._pending = deque[tuple[Buffer, ...]]()
        self._writing = deque[asyncio.Future[None]]()
        # Held in turn by each call: one thread hashes while another writes, both in order.
        self._writing_turn, self._hashing_turn = Lock(), Lock()

    async def __aenter__(self) -> "BlobWriter":
        return self

    async def __aexit__(self, *exception: object) -> None:
        try:
            # A thread may still write into the file.
            await asyncio.gather(*self._writing, return_exceptions=True)
        finally:
            # A full disk fails this, too: what was not committed is given up.
            with suppress(OSError):
                self._file.close()
            self._part.unlink(missing_ok=True)

    async def write(self, *pieces: Buffer) -> None:
        """Append bytes while the caller gets the next ones.

        A later call waits until they are written, and raises the error if that failed.
        """
        await self._wait_until_written(_AHEAD - 1)
        self._pending.append(pieces)
        if not self._writing and self._size + sum(map(len, pieces)) <= _BUFFER_BYTES:
            self._write_next()
            return
        loop = asyncio.get_running_loop()
        self._writing.append(loop.run_in_executor(None, self._write_next))

    async def hash(self) -> str:
        """Return the hash of what was written."""
        await self._wait_until_written()
        return self._hash.hexdigest()

    async def commit(self) -> Blob:
        """Make the bytes durable under their hash."""
        blob = Blob(await self.hash(), self._size)
        await self._publish(self._file, blob.hash)
        return blob

    async def _wait_until_written(self, but: int = 0) -> None:
        """Wait until the bytes of all calls but the last `but` are written."""
        while len(self._writing) > but:
            await self._writing[0]
            self._writing.popleft()

    def _write_next(self) -> None:
        with self._writing_turn:
            pieces = self._pending.popleft()
            for piece in pieces:
                self._size += self._file.write(piece)
            # Taken before the other is given back: pieces are hashed in their order, too.
            self._hashing_turn.acquire()
        try:
            for piece in pieces:
                self._hash.update(piece)
        finally:
            self._hashing_turn.release()
