"""Copies of documents on this machine, which their pictures are drawn from."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from carrel.config import folders
from carrel.store.session import SessionService

COPIES_BYTES = 512 * 1024 * 1024
"""How large the folder of copies may grow before the oldest go."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is opened: a file, or a document of a library."""

    kind: Literal["file", "document"]
    id: str
    name: str
    library_id: str | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A document on this machine; `hash` is the SHA-256 of its content, in hex."""

    path: Path
    hash: str


class Copies:
    def __init__(self, session: SessionService) -> None:
        self._session = session

    async def fetch(self, source: Source) -> Copy:
        """The document's bytes on this machine, downloaded unless they are here already."""
        key = f"{self._session.slice.value.profile}\0{source.id}"
        folder = folders().cache / "documents"
        path = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
        if path.exists():
            path.touch()  # the oldest go first
        else:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            client = await self._session.client()
            if source.kind == "file":
                await client.files.download(source.id, path)
            else:
                await client.documents.download(source.library_id or "", source.id, path)
            make_room(folder, path, COPIES_BYTES)
        return Copy(path, await asyncio.to_thread(_hash, path))


def make_room(folder: Path, newest: Path, most: int) -> None:
    """Removes the files used longest ago until the folder has at most so many bytes."""
    files = []
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another workbench removed it
            stat = file.stat()
            files.append((stat.st_mtime, stat.st_size, file))
    total = 0
    for _, size, file in sorted(files, reverse=True):
        total += size
        if total > most and file != newest:
            file.unlink(missing_ok=True)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
