"""Uploads: a multipart body that is read during sending, so that memory stays constant."""

import asyncio
import mimetypes
import os
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from pathlib import Path

from carrel.client.http.errors import UnreadableFile

CHUNK = 1 << 18
"""Bytes per read and write."""

UploadSource = Path | tuple[str, int, AsyncIterable[bytes]]
"""The source of an upload: a path, or a name, a size in bytes and an iterable of bytes."""

Progress = Callable[[int, int | None], None]
"""Called with the bytes transferred and the total, if known."""


class Meter:
    """Counts bytes and reports them, at most ten times a second and once at the end."""

    def __init__(self, total: int | None, report: Progress | None) -> None:
        self._total = total
        self._report = report
        self._done = 0
        self._next = 0.0

    def add(self, count: int) -> None:
        """Count transferred bytes."""
        self._done += count
        now = time.monotonic()
        if self._report is not None and (now >= self._next or self._done == self._total):
            self._next = now + 0.1
            self._report(self._done, self._total)


class MultipartBody:
    """The body of an upload: text fields, then one part named `file`."""

    def __init__(
        self,
        source: UploadSource,
        fields: dict[str, str] | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        """Read the source's name and size.

        Raises:
            UnreadableFile: the path is not a readable file.
        """
        if isinstance(source, Path):
            self.name, self.size = source.name, size_of(source)
            self._content: AsyncIterable[bytes] = _read(source, self.size)
        else:
            self.name, self.size, self._content = source
        self._meter = Meter(self.size, on_progress)
        boundary = os.urandom(16).hex()
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{_quote(name)}"'
            f"\r\n\r\n{value}\r\n"
            for name, value in (fields or {}).items()
        )
        kind = mimetypes.guess_type(self.name)[0] or "application/octet-stream"
        head += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{_quote(self.name)}"\r\nContent-Type: {kind}\r\n\r\n'
        )
        # A file name that is not UTF-8 has no valid form here: use question marks.
        self._head = head.encode("utf-8", "replace")
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self.headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(self._head) + self.size + len(self._tail)),
        }

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._head
        sent = 0
        async for chunk in self._content:
            sent += len(chunk)
            if sent > self.size:
                break
            yield chunk
            self._meter.add(len(chunk))
        if sent != self.size:
            raise UnreadableFile(f"{self.name} changed while it was sent. Try again.")
        yield self._tail

    async def aclose(self) -> None:
        """Close the source if it was not read to its end."""
        if isinstance(self._content, AsyncGenerator):
            await self._content.aclose()


def size_of(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises:
        UnreadableFile: the file cannot be uploaded.
    """
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path} is a folder. Name the files inside it.")
        if path.exists() and not path.is_file():
            raise UnreadableFile(f"{path} is not a regular file.")
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise UnreadableFile(f"There is no file at {path}.") from error
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.") from error


async def _read(path: Path, size: int) -> AsyncIterator[bytes]:
    try:
        with path.open("rb") as file:
            left = size
            while left and (chunk := await asyncio.to_thread(file.read, min(CHUNK, left))):
                left -= len(chunk)
                yield chunk
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.") from error


def _quote(text: str) -> str:
    # The three escapes of HTML's multipart form; all other characters travel unescaped.
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
