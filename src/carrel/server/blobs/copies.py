"""Local copies of remote blobs, for readers that need a file."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4
from weakref import WeakValueDictionary

LIMIT_BYTES = 1024**3
"""Bytes kept beyond the copies that are being read."""


class LocalCopies:
    """An LRU cache of files named by their hash; its folder starts empty.

    For one event loop.
    """

    def __init__(self, folder: Path, limit: int = LIMIT_BYTES) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in self._folder.iterdir():
            path.unlink()
        self._limit = limit
        self._sizes: dict[str, int] = {}
        """The copies, least recently used first."""
        self._total = 0
        self._readers: Counter[str] = Counter()
        # Readers of one missing copy fetch it once; the lock goes with the last reader.
        self._fetching = WeakValueDictionary[str, asyncio.Lock]()

    def adopt(self, file: Path, hash: str) -> None:
        """Take a whole file as the copy of a hash."""
        size = file.stat().st_size
        self._total += size - self._sizes.pop(hash, 0)
        self._sizes[hash] = size
        file.replace(self._folder / hash)
        self._make_room()

    @asynccontextmanager
    async def read(
        self, hash: str, fetch: Callable[[str, Path], Awaitable[None]]
    ) -> AsyncIterator[Path]:
        """Yield the copy of a hash, pinned meanwhile; `fetch(hash, file)` gets a missing one."""
        self._readers[hash] += 1
        try:
            async with self._fetching.setdefault(hash, asyncio.Lock()):
                if hash not in self._sizes:
                    await self._get(hash, fetch)
            self._sizes[hash] = self._sizes.pop(hash)
            yield self._folder / hash
        finally:
            self._readers[hash] -= 1
            if not self._readers[hash]:
                del self._readers[hash]
            self._make_room()

    @property
    def hashes(self) -> list[str]:
        """The hashes of the copies."""
        return list(self._sizes)

    def drop(self, hashes: Collection[str]) -> None:
        """Remove the copies of some hashes, except copies in use."""
        for hash in hashes:
            if hash in self._sizes:
                self._remove(hash)

    def keep_only(self, live: Collection[str]) -> None:
        """Remove copies that are neither live nor in use."""
        self.drop([hash for hash in self._sizes if hash not in live])

    async def _get(self, hash: str, fetch: Callable[[str, Path], Awaitable[None]]) -> None:
        part = self._folder / f"{uuid4().hex}.part"
        try:
            await fetch(hash, part)
            self.adopt(part, hash)
        finally:
            part.unlink(missing_ok=True)

    def _make_room(self) -> None:
        if self._total <= self._limit:
            return
        for hash in list(self._sizes):
            self._remove(hash)
            if self._total <= self._limit:
                return

    def _remove(self, hash: str) -> None:
        if hash not in self._readers:
            self._total -= self._sizes.pop(hash)
            (self._folder / hash).unlink()
