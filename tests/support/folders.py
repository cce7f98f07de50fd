"""Folders on disk, and syncing them with a strict library."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.client import Client
from carrel.sync.ledger import Ledger, SyncSettings
from carrel.sync.progress import Summary, SyncProgress
from carrel.sync.runner import Runner
from support.strict import LIBRARY, StrictLibrary

AGES_AGO = 60


def write(path: Path, content: str | bytes, age: float = AGES_AGO) -> Path:
    """Writes a file as if that had happened some seconds ago, so that nobody waits for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


@dataclass
class Desk:
    """A folder, a library, and syncs of the one with the other."""

    folder: Path
    library: StrictLibrary
    ledger: Ledger

    def write(self, name: str, content: str | bytes, age: float = AGES_AGO) -> Path:
        return write(self.folder / name, content, age)

    async def sync(
        self,
        settings: SyncSettings | None = None,
        report: Callable[[SyncProgress], object] = lambda progress: None,
        max_delete: int | None = None,
    ) -> Summary:
        async with self.client() as client:
            return await self.runner(client, settings, report, max_delete).run()

    def client(self) -> Client:
        return Client(self.library.service.url, None)

    def runner(
        self,
        client: Client,
        settings: SyncSettings | None = None,
        report: Callable[[SyncProgress], object] = lambda progress: None,
        max_delete: int | None = None,
    ) -> Runner:
        folder = self.ledger.folder("test", LIBRARY, self.folder)
        return Runner(client, self.ledger, folder, settings or SyncSettings(), report, max_delete)
