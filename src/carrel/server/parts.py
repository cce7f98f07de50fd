"""The parts of a running server, and the order in which they start and stop."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from carrel.server.access import Access
from carrel.server.blobs.local import LocalBlobs
from carrel.server.folder import DataFolder
from carrel.server.housekeeping import stop_when_unused, throw_away
from carrel.server.leases import Leases
from carrel.server.library.service import LibraryService
from carrel.server.reading.reader import Reader
from carrel.server.records.database import Database
from carrel.server.settings import Settings
from carrel.server.signing import Signer


@dataclass
class Server:
    """Everything a route may need."""

    settings: Settings
    folder: DataFolder
    database: Database
    blobs: LocalBlobs
    signer: Signer
    access: Access
    leases: Leases
    reader: Reader
    library: LibraryService

    @classmethod
    def open(cls, settings: Settings, folder: DataFolder) -> Self:
        """Puts the parts together over an open data folder; nothing runs yet."""
        database = Database(folder.database_url)
        blobs = LocalBlobs(folder.blob_folder)
        reader = Reader()
        return cls(
            settings=settings,
            folder=folder,
            database=database,
            blobs=blobs,
            signer=Signer(folder.secret),
            access=Access(database, folder.secret),
            leases=Leases(),
            reader=reader,
            library=LibraryService(database, blobs, reader),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Runs the parts; at the end they are stopped in the opposite order, come what may."""
        async with AsyncExitStack() as stack:
            stack.callback(self.database.close)
            await self.access.admit(self.folder.api_key)
            for part in (self.reader, self.library):
                stack.push_async_callback(part.stop)
                await part.start()
            for work in self._background():
                await stack.enter_async_context(_in_background(work))
            yield

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield throw_away(self.database, self.blobs)
        if self.settings.until_unused:
            # The same clean stop as any other.
            stop = partial(signal.raise_signal, signal.SIGTERM)
            yield stop_when_unused(self.leases, self.library, stop)


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
