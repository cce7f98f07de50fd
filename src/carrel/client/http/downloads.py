"""Downloads: a response body into a file, atomically."""

import asyncio
import secrets
from pathlib import Path

import httpx

from carrel.client.http.uploads import CHUNK, Meter, Progress
from carrel.system.hashes import hashed_name
from carrel.system.locking import Locked, lock_file


async def save(response: httpx.Response, to: Path, on_progress: Progress | None = None) -> Path:
    """Write the body of a streamed answer to a file, replacing an existing one; return its path.

    Raises:
        OSError: the file cannot be written.
    """
    meter = Meter(_length(response), on_progress)
    # After a kill the next download finds its partial file again: none accumulate.
    part = to.with_name(f".{hashed_name(to.name)}.part")
    try:
        file = lock_file(part)
    except Locked:  # another process saves to the same path
        part = part.with_stem(f"{part.stem}-{secrets.token_hex(8)}")
        file = lock_file(part)
    try:
        with file:
            file.truncate(0)
            async for chunk in response.aiter_bytes(CHUNK):
                await asyncio.to_thread(file.write, chunk)
                meter.add(len(chunk))
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
    return to


def _length(response: httpx.Response) -> int | None:
    length = response.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None
