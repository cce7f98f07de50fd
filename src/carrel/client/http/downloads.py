"""Downloads: a response body into a file, atomically."""

import asyncio
from pathlib import Path

import httpx

from carrel.client.http.uploads import CHUNK, Meter, Progress
from carrel.system.atomic import replacing


async def save(response: httpx.Response, to: Path, on_progress: Progress | None = None) -> Path:
    """Write the body of a streamed answer to a file, replacing an existing one; return its path.

    Raises:
        OSError: the file cannot be written.
    """
    meter = Meter(_length(response), on_progress)
    with replacing(to) as file:
        async for chunk in response.aiter_bytes(CHUNK):
            await asyncio.to_thread(file.write, chunk)
            meter.add(len(chunk))
    return to


def _length(response: httpx.Response) -> int | None:
    length = response.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None
