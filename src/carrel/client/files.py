"""The files of a service."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx

from carrel.client.http.area import Area, every
from carrel.client.http.downloads import save
from carrel.client.http.keywords import fields_of
from carrel.client.http.sending import send
from carrel.client.http.transport import ANYTHING, path_of
from carrel.client.http.uploads import CHUNK, MultipartBody, Progress, UploadSource
from carrel.wire.files import (
    File,
    FileList,
    FileQuery,
    FileUpload,
    Purpose,
    RetrievedFile,
    SignedURL,
    SignedURLQuery,
)
from carrel.wire.id_lists import DeletedItem


class Files(Area):
    """`/v1/files`."""

    @fields_of(FileQuery)
    async def list(self, query: FileQuery) -> FileList:
        """Return a page of the files; pages count from 0."""
        return await self._call(FileList, "GET", "/v1/files", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[File]:
        """Yield all files, or those whose name contains `search`, page by page."""
        return every(self.list, lambda file: file.id, search=search)

    async def upload(
        self,
        source: UploadSource,
        *,
        purpose: Purpose | None = None,
        on_progress: Progress | None = None,
    ) -> File:
        """Upload a file, read from disk during sending.

        Raises:
            TooLarge: the file exceeds the service's limit.
            UnreadableFile: the file is missing, or changed meanwhile.
        """
        fields = FileUpload(purpose=purpose).body()
        body = MultipartBody(source, {k: str(v) for k, v in fields.items()}, on_progress)
        return await send(self._transport, File, "/v1/files", body, "file_bytes")

    async def get(self, file_id: str) -> RetrievedFile:
        """Return a file's metadata."""
        return await self._call(RetrievedFile, "GET", "/v1/files/{}", file_id)

    async def delete(self, file_id: str) -> DeletedItem:
        """Delete a file."""
        return await self._call(DeletedItem, "DELETE", "/v1/files/{}", file_id)

    async def url(self, file_id: str, hours: int = 24) -> SignedURL:
        """Return an address that works without a key for `hours` (1 to 168)."""
        return await self._call(
            SignedURL, "GET", "/v1/files/{}/url", file_id, query=SignedURLQuery(expiry=hours)
        )

    async def download(self, file_id: str, to: Path, on_progress: Progress | None = None) -> Path:
        """Download a file to the path `to` atomically."""
        async with self._open(file_id) as response:
            return await save(response, to, on_progress)

    @asynccontextmanager
    async def content(self, file_id: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield a file's bytes as they arrive; leaving closes the connection."""
        async with self._open(file_id) as response:
            yield response.aiter_bytes(CHUNK)

    def _open(self, file_id: str) -> AbstractAsyncContextManager[httpx.Response]:
        path = path_of("/v1/files/{}/content", file_id)
        return self._transport.open("GET", path, accept=ANYTHING)
