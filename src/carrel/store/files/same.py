"""Finds a local file at the service by its name, size and hash."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.client.http.uploads import size_of
from carrel.store.activity.uploads import UploadSource, source_name
from carrel.system.hashes import sha256, sha256_of

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.files import File


async def same_file(client: Client, source: UploadSource) -> File | None:
    """Return the service's file with this name and content, or None.

    Services list no hashes, so content is downloaded if name and size agree.

    Raises:
        ClientError: the file cannot be read, or the service refuses.
    """
    name = source_name(source)
    size = size_of(source) if isinstance(source, Path) else source[1]
    digest: str | None = None
    async for file in client.files.every(name):
        if (file.filename, file.bytes) == (name, size):
            digest = digest or await _hash(source)
            if await _remote_hash(client, file.id) == digest:
                return file
    return None


async def _hash(source: UploadSource) -> str:
    if isinstance(source, Path):
        return await asyncio.to_thread(sha256, source)
    return await sha256_of(source[2])


async def _remote_hash(client: Client, file_id: str) -> str:
    async with client.files.content(file_id) as content:
        return await sha256_of(content)
