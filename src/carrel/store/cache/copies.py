"""Local copies of documents, from which page pictures are drawn."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary

from carrel.store.session.service import SessionService
from carrel.system.hashes import hashed_name, sha256

COPIES_BYTES = 512 * 1024 * 1024
"""Size limit of the copies in bytes; the least recently used are evicted."""


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document to open: a file, or a document of a library."""

    kind: Literal["file", "document"]
    id: str
    name: str
    library_id: str | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A local copy of a document; `hash` is its SHA-256 in hex."""

    path: Path
    hash: str


class Copies:
    """A cache of one profile's documents, evicting the least recently used."""

    def __init__(self, session: SessionService) -> None:
        self._session = session
        self._shown: WeakKeyDictionary[object, Path] = WeakKeyDictionary()
        self._fetched: Counter[Path] = Counter()

    async def fetch(self, source: DocumentSource) -> Copy:
        """Return the local copy of a document, downloading it if it is missing."""
        key = f"{self._session.profile.storage_name}\0{source.id}"
        folder = self._session.profile.folders.cache / "documents"
        path = folder / hashed_name(key)
        self._fetched[path] += 1
        try:
            if path.exists():
                path.touch()  # least recently used is evicted first
            else:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                client = await self._session.client()
                if source.kind == "file":
                    await client.files.download(source.id, path)
                else:
                    await client.documents.download(source.library_id or "", source.id, path)
                make_room(folder, {*+self._fetched, *self._shown.values()}, COPIES_BYTES)
            return Copy(path, await asyncio.to_thread(sha256, path))
        finally:
            self._fetched[path] -= 1

    def keep(self, viewer: object, copy: Copy | None) -> None:
        """Pin a viewer's copy against eviction until the viewer shows another or none."""
        self._shown.pop(viewer, None)
        if copy is not None:
            self._shown[viewer] = copy.path


def make_room(folder: Path, kept: Collection[Path], most: int) -> None:
    """Evict least recently used files until the folder has at most `most` bytes.

    Files in `kept` stay.
    """
    files = []
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # removed by another workbench
            stat = file.stat()
            files.append((file not in kept, -stat.st_mtime, stat.st_size, file))
    total = 0
    for removable, _, size, file in sorted(files):
        total += size
        if total > most and removable:
            file.unlink(missing_ok=True)
