"""The files of a service."""

import builtins
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from carrel.client.http.downloads import save
from carrel.client.http.paging import PAGE, every
from carrel.client.http.sending import send
from carrel.client.http.transport import ANYTHING, Transport, path_of
from carrel.client.http.uploads import CHUNK, MultipartBody, Progress, UploadSource
from carrel.wire.files import (
    DeletedFile,
    File,
    FileList,
    FileQuery,
    FileUpload,
    Purpose,
    RetrievedFile,
    SignedURL,
    SignedURLQuery,
)


class Files:
    """`/v1/files`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        page: int = 0,
        page_size: int = 100,
        include_total: bool = True,
        search: str | None = None,
        purpose: Purpose | None = None,
        sample_type: builtins.list[str] | None = None,
        source: builtins.list[str] | None = None,
        mimetypes: builtins.list[str] | None = None,
    ) -> FileList:
        """Return a page of the files; pages count from 0."""
        query = FileQuery(
            page=page,
            page_size=page_size,
            include_total=include_total,
            search=search,
            purpose=purpose,
            sample_type=sample_type,
            source=source,
            mimetypes=mimetypes,
        )
        return await self._transport.call(FileList, "GET", "/v1/files", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[File]:
        """Return all files, or those whose name has a text, page after page."""

        async def page(number: int) -> builtins.list[File]:
            return (await self.list(page=number, page_size=PAGE, search=search)).data

        return every(page, lambda file: file.id)

    async def upload(
        self,
        source: UploadSource,
        *,
        purpose: Purpose | None = None,
        on_progress: Progress | None = None,
    ) -> File:
        """Store a file, read from disk while it is sent.

        Raises:
            TooLarge: it is larger than the service takes.
            UnreadableFile: there is no such file, or it changed meanwhile.
        """
        fields = FileUpload(purpose=purpose).body()
        body = MultipartBody(source, {k: str(v) for k, v in fields.items()}, on_progress)
        return await send(self._transport, File, "/v1/files", body, "file_bytes")

    async def get(self, file_id: str) -> RetrievedFile:
        """Return one file's particulars."""
        return await self._transport.call(RetrievedFile, "GET", path_of("/v1/files/{}", file_id))

    async def delete(self, file_id: str) -> DeletedFile:
        """Remove a file."""
        return await self._transport.call(DeletedFile, "DELETE", path_of("/v1/files/{}", file_id))

    async def url(self, file_id: str, hours: int = 24) -> SignedURL:
        """Return an address that works without a key for `hours` (1 to 168)."""
        return await self._transport.call(
            SignedURL,
            "GET",
            path_of("/v1/files/{}/url", file_id),
            query=SignedURLQuery(expiry=hours),
        )

    async def download(self, file_id: str, to: Path, on_progress: Progress | None = None) -> Path:
        """Write a file's content to the path `to`, whole or not at all."""
        async with self._transport.open(
            "GET", path_of("/v1/files/{}/content", file_id), accept=ANYTHING
        ) as response:
            return await save(response, to, on_progress)

    @asynccontextmanager
    async def content(self, file_id: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield a file's bytes as they arrive; leaving closes the connection."""
        async with self._transport.open(
            "GET", path_of("/v1/files/{}/content", file_id), accept=ANYTHING
        ) as response:
            yield response.aiter_bytes(CHUNK)
