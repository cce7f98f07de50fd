"""The parts of a running server, and the order in which they start and stop."""

from dataclasses import dataclass
from typing import Self

from carrel.server.access import Access
from carrel.server.blobs.local import LocalBlobs
from carrel.server.folder import DataFolder
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

    async def start(self) -> None:
        """Starts what runs in the background."""
        await self.access.admit(self.folder.api_key)
        await self.reader.start()
        await self.library.start()

    async def stop(self) -> None:
        """Stops what runs in the background, last started first."""
        await self.library.stop()
        await self.reader.stop()
        self.database.close()
