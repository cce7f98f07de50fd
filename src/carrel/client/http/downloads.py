"""Downloads: a response body into a file, atomically."""

import asyncio
import secrets
from pathlib import Path

import httpx

from carrel.client.http.uploads import CHUNK, Meter, Progress


async def save(response: httpx.Response, to: Path, on_progress: Progress | None = None) -> Path:
    """Write the body of a streamed answer to a file, over one that is there; return its path.

    Raises:
        OSError: the file cannot be written.
    """
    meter = Meter(_length(response), on_progress)
    part = to.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("wb") as file:
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
