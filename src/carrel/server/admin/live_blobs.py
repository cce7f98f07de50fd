"""The blobs that records name, processed in pages: all of them may not fit into memory."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import sqlalchemy as sa

from carrel.server.blobs.store import AT_ONCE
from carrel.server.records import blobs as records

_PARALLEL = 4
"""Blobs in work at a time."""

Progress = Callable[[int, int], None]
"""Is given the number of blobs that are done, and of all."""


@dataclass(frozen=True)
class LiveBlobs:
    """The hashes that records name.

    Each page has a connection of its own, so that none is held while bytes are copied.
    """

    connect: Callable[[], AbstractContextManager[sa.Connection]]

    def count(self) -> int:
        """Return the number of different hashes."""
        with self.connect() as connection:
            return records.count(connection)

    def pages(self) -> Iterator[list[str]]:
        """Yield all hashes in order, a page at a time."""
        page = self._next_hashes("")
        while page:
            yield page
            page = self._next_hashes(page[-1])

    async def find_named(self, hashes: Collection[str]) -> set[str]:
        """Return the hashes of a page that a record names."""

        def ask() -> set[str]:
            with self.connect() as connection:
                return records.find_named(connection, hashes)

        return await asyncio.to_thread(ask)

    async def run_on_all(self, work: Callable[[str], Awaitable[int]], progress: Progress) -> int:
        """Run `work` for every hash, a few at a time, and return the sum of the results."""
        count = await asyncio.to_thread(self.count)
        done = total = 0

        async def run(waiting: Iterator[str]) -> None:
            nonlocal done, total
            for hash in waiting:
                size = await work(hash)
                done, total = done + 1, total + size
                progress(done, count)

        pages = self.pages()
        try:
            while page := await asyncio.to_thread(next, pages, None):
                waiting = iter(page)
                async with asyncio.TaskGroup() as group:
                    for _ in range(_PARALLEL):
                        group.create_task(run(waiting))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return total

    def _next_hashes(self, hash: str) -> list[str]:
        with self.connect() as connection:
            return records.next_hashes(connection, hash, AT_ONCE)
