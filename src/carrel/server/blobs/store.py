"""The interface of a blob store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from starlette.responses import Response

from carrel.server.blobs.writer import BlobWriter
from carrel.server.errors import ApiError


@dataclass(frozen=True)
class Download:
    """A download's name and headers."""

    filename: str
    media_type: str
    headers: Mapping[str, str]


class BlobError(ApiError):
    """The store cannot do what it is asked for."""

    reply: tuple[int, str]
    """The status and the message of the answer."""

    def __init__(self) -> None:
        super().__init__(*self.reply)


class BlobMissing(BlobError):
    """The store lacks bytes that a record names."""

    reply = 404, "The bytes of this document are missing on the server. Upload it again."


class BlobsUnavailable(BlobError):
    """The store cannot be reached, or refuses; the log says why."""

    reply = (
        503,
        "The store that keeps the server's documents does not answer."
        " Try again in a moment; the server's log says more.",
    )


class BlobsFull(BlobError):
    """The store answers, but takes no more bytes."""

    reply = (
        507,
        "The store that keeps the server's documents takes no more: it is full, or fails."
        " Make room there; the server's log says more.",
    )


Named = Callable[[Collection[str]], Awaitable[set[str]]]
"""Returns, of up to `AT_ONCE` hashes, the ones that a record names."""
AT_ONCE = 1000


async def find_unnamed(hashes: Sequence[str], named: Named) -> AsyncIterator[set[str]]:
    """Yield the hashes that no record names, a part at a time."""
    for start in range(0, len(hashes), AT_ONCE):
        some = hashes[start : start + AT_ONCE]
        yield set(some) - await named(some)


class Blobs(Protocol):
    """Bytes, kept once under the SHA-256 of their content.

    Any method may raise `BlobsUnavailable`, those that take a hash `BlobMissing`, a commit of a
    writer `BlobsFull`.
    """

    def writer(self) -> BlobWriter:
        """Return a new blob, written piece by piece."""

    async def size(self, hash: str) -> int:
        """Return the number of the bytes."""

    def local(self, hash: str) -> AbstractAsyncContextManager[Path]:
        """Return the bytes as a file to read, kept until the context exits."""

    async def answer(self, hash: str, download: Download) -> Response:
        """Answer with the bytes, whole or the range that the request asks for."""

    def signed_url(self, hash: str, download: Download, seconds: int) -> str | None:
        """Return a signed address of the store for GET, if the store makes them."""

    def verify_url(self, url: str) -> tuple[str, str] | None:
        """Return the hash and the file name of a `signed_url`; None if it is invalid."""

    async def collect(self, named: Named, older_than: float) -> int:
        """Remove unreferenced blobs older than `older_than` seconds.

        The age protects bytes that were stored and whose record is about to be written.
        Returns the number removed.
        """

    async def drop_copies(self, named: Named) -> None:
        """Remove this process's copies of bytes that no record names."""

    async def check(self) -> None:
        """Check that the store can be written to."""


async def put(blobs: Blobs, data: bytes) -> str:
    """Store bytes that are already in memory and return their hash."""
    async with blobs.writer() as writer:
        await writer.write(data)
        return (await writer.commit()).hash
