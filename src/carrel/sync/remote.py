"""The library's side of a sync: documented endpoints, with retries."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from carrel.client import Client
from carrel.client.http.errors import NotFound, ServiceError, Unreachable, UnreadableFile
from carrel.client.http.sending import ASKED_ABOVE
from carrel.client.http.uploads import CHUNK, Progress
from carrel.sync.errors import SyncError
from carrel.sync.ledger import LibraryMark
from carrel.wire.documents import Document, DocumentUpdate

T = TypeVar("T")

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between retries of a call."""

STALLED = 120.0
"""Timeout of an upload in seconds without progress or an answer."""

_BUSY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_HOPELESS = (
    *_BUSY,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.PAYMENT_REQUIRED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.INSUFFICIENT_STORAGE,
)
_PAGE = 100
"""Documents of a page of the list."""


def is_hopeless(error: Exception) -> bool:
    """Return whether an error of one file would also occur for all others."""
    return isinstance(error, Unreachable | SyncError) or (
        isinstance(error, ServiceError) and error.status in _HOPELESS
    )


class Remote:
    """One library of a service."""

    def __init__(self, client: Client, library_id: str) -> None:
        self._client = client
        self._id = library_id

    async def mark(self) -> LibraryMark:
        """Return the library's current mark."""
        listed = await self._call(
            lambda: self._client.documents.list(
                self._id, page_size=1, sort_by="created_at", sort_order="desc"
            )
        )
        return LibraryMark(
            listed.pagination.total_items, listed.data[0].id if listed.data else None
        )

    async def documents(self) -> list[Document]:
        """Return all documents of the library."""
        found: dict[str, Document] = {}
        page = 0
        while True:
            listed = await self._call(
                lambda page=page: self._client.documents.list(  # type: ignore[misc]
                    self._id, page=page, page_size=_PAGE
                )
            )
            fresh = [document for document in listed.data if document.id not in found]
            found |= {document.id: document for document in fresh}
            # A service without paging answers the same list again.
            if not listed.pagination.has_more or not fresh:
                return list(found.values())
            page += 1

    async def has(self, document_id: str) -> bool:
        """Return whether a document is in the library."""
        return await self._ignore_missing(lambda: self._client.documents.get(self._id, document_id))

    async def limit(self, sizes: Iterable[int]) -> int | None:
        """Return the service's size limit of a document in bytes, requested only if a size may
        exceed it."""
        if max(sizes, default=0) <= ASKED_ABOVE:
            return None
        return await _retry(self._client.documents.largest)

    async def upload(
        self, path: Path, name: str, size: int, hash: str, on_progress: Progress
    ) -> Document:
        """Upload a file if its content still has this hash.

        Raises:
            UnreadableFile: the file changed, or cannot be read.
        """

        async def attempt() -> Document:
            try:
                async with asyncio.timeout(STALLED) as watch:

                    def report(done: int, total: int | None) -> None:
                        watch.reschedule(asyncio.get_running_loop().time() + STALLED)
                        on_progress(done, total)

                    source = (name, size, _stream_checked(path, size, hash))
                    return await self._client.documents.upload(self._id, source, on_progress=report)
            except TimeoutError as error:
                raise Unreachable("The service took too long to answer an upload.") from error

        return await self._call(attempt)

    async def rename(self, document_id: str, name: str) -> bool:
        """Rename a document; False if it no longer exists."""
        changes = DocumentUpdate(name=name)
        return await self._ignore_missing(
            lambda: self._client.documents.update(self._id, document_id, changes)
        )

    async def delete(self, document_id: str) -> bool:
        """Delete a document; False if it no longer existed."""
        return await self._ignore_missing(
            lambda: self._client.documents.delete(self._id, document_id)
        )

    async def _ignore_missing(self, call: Callable[[], Awaitable[object]]) -> bool:
        try:
            await _retry(call)
        except NotFound:
            return False
        return True

    async def _call(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            return await _retry(call)
        except NotFound as error:
            raise SyncError(
                "The library is not there any more. Choose another, or make it anew."
            ) from error


async def _retry(call: Callable[[], Awaitable[T]]) -> T:
    for pause in PAUSES:
        try:
            return await call()
        except Unreachable:
            pass
        except ServiceError as error:
            if error.status not in _BUSY:
                raise
        await asyncio.sleep(pause)
    return await call()


async def _stream_checked(path: Path, size: int, hash: str) -> AsyncIterator[bytes]:
    """Stream a file's bytes, but yield the last only if the hash matches."""
    digest = hashlib.sha256()
    sent = 0
    try:
        with path.open("rb") as file:
            while sent < size:
                chunk = await asyncio.to_thread(file.read, min(CHUNK, size - sent))
                digest.update(chunk)
                sent += len(chunk)
                if not chunk or (sent == size and digest.hexdigest() != hash):
                    raise UnreadableFile("It changed while it was sent. Sync again.")
                yield chunk
    except OSError as error:
        raise UnreadableFile(f"It cannot be read: {error.strerror}.") from error
