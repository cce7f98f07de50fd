"""A short-lived cache of fetched documents: reading page by page fetches each once."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from carrel.server.blobs.copies import LocalCopies
from carrel.server.transfer.fetch import Fetcher
from carrel.system.hashes import sha256

KEPT_SECONDS = 60
"""Time to live of a fetched document, in seconds."""
KEPT_BYTES = 256 * 2**20
"""Room for fetched documents on the disk."""


class Fetched(NamedTuple):
    """A document's file, and the SHA-256 of its bytes."""

    path: Path
    hash: str


class FetchedDocuments:
    """Fetches a document at most once a minute, into a folder that starts empty.

    For one event loop.
    """

    def __init__(self, folder: Path, seconds: float = KEPT_SECONDS) -> None:
        self._copies = LocalCopies(folder, KEPT_BYTES)
        self._seconds = seconds
        self._hashes: dict[str, str] = {}
        """By a hash of address and minute; an address may be a secret."""

    @asynccontextmanager
    async def document(self, url: str, fetcher: Fetcher) -> AsyncIterator[Fetched]:
        """Yield the document at an address, kept until the context exits.

        Raises:
            ApiError: it was not fetched.
            InvalidRequest: it is not an address.
        """

        loop = asyncio.get_running_loop()

        async def fetch(key: str, path: Path) -> None:
            await fetcher.save(url, path)
            self._hashes[key] = await asyncio.to_thread(sha256, path)
            loop.call_later(self._seconds, self._forget, key)

        address = await asyncio.to_thread(lambda: hashlib.sha256(url.encode()).hexdigest())
        key = f"{address}-{loop.time() // self._seconds:.0f}"
        async with self._copies.read(key, fetch) as path:
            yield Fetched(path, self._hashes[key])
        self._copies.keep_only(self._hashes)

    def _forget(self, key: str) -> None:
        self._hashes.pop(key, None)
        self._copies.keep_only(self._hashes)
