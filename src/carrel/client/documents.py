"""The documents of a library."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from carrel.client.http.area import Area, every
from carrel.client.http.downloads import save
from carrel.client.http.keywords import fields_of
from carrel.client.http.sending import largest, send
from carrel.client.http.transport import path_of
from carrel.client.http.uploads import MultipartBody, Progress, UploadSource
from carrel.wire.documents import (
    NAME_HEADER,
    Document,
    DocumentList,
    DocumentQuery,
    DocumentStatus,
    DocumentUpdate,
    TextContent,
    TextQuery,
)

_DOCUMENTS = "/v1/libraries/{}/documents"
_DOCUMENT = "/v1/libraries/{}/documents/{}"


class Documents(Area):
    """`/v1/libraries/{library_id}/documents`."""

    @fields_of(DocumentQuery)
    async def list(self, library_id: str, query: DocumentQuery) -> DocumentList:
        """Return a page of a library's documents; pages count from 0."""
        return await self._call(DocumentList, "GET", _DOCUMENTS, library_id, query=query)

    def every(self, library_id: str, search: str | None = None) -> AsyncIterator[Document]:
        """Yield all documents of a library, or those whose name contains `search`, page by page."""
        return every(partial(self.list, library_id), lambda document: document.id, search=search)

    async def largest(self) -> int | None:
        """Return the largest size of a document in bytes, or None if the service does not tell."""
        return await largest(self._transport, "document_bytes")

    async def upload(
        self, library_id: str, source: UploadSource, *, on_progress: Progress | None = None
    ) -> Document:
        """Upload a document to a library, where it is queued for processing.

        If the library has the same content already, that document is returned. A name with folders
        travels in a header, which some services ignore: they keep its last part.

        Raises:
            TooLarge: the document exceeds the service's limit.
            UnreadableFile: the file is missing, or changed meanwhile.
        """
        folder = ""
        if not isinstance(source, Path):
            folder, _, last = source[0].rpartition("/")
            source = (last, *source[1:])
        body, path = MultipartBody(source, on_progress=on_progress), path_of(_DOCUMENTS, library_id)
        if folder:
            body.headers[NAME_HEADER] = quote(f"{folder}/{body.name}", safe="/", errors="replace")
        return await send(self._transport, Document, path, body, "document_bytes")

    async def get(self, library_id: str, document_id: str) -> Document:
        """Return a document's metadata."""
        return await self._call(Document, "GET", _DOCUMENT, library_id, document_id)

    @fields_of(DocumentUpdate)
    async def update(self, library_id: str, document_id: str, changes: DocumentUpdate) -> Document:
        """Change a document's name, attributes or expiry.

        `changes`: a DocumentUpdate, or its fields as keywords.
        """
        return await self._call(
            Document, "PUT", _DOCUMENT, library_id, document_id, body=changes.body()
        )

    async def delete(self, library_id: str, document_id: str) -> None:
        """Delete a document from its library and from the search."""
        await self._send("DELETE", _DOCUMENT, library_id, document_id)

    @fields_of(TextQuery)
    async def text(self, library_id: str, document_id: str, query: TextQuery) -> str:
        """Return a processed document's text; pages count from 0, and a range includes both
        ends."""
        path = _DOCUMENT + "/text_content"
        return (
            await self._call(TextContent, "GET", path, library_id, document_id, query=query)
        ).text

    async def status(self, library_id: str, document_id: str) -> DocumentStatus:
        """Return the processing status."""
        return await self._call(
            DocumentStatus, "GET", _DOCUMENT + "/status", library_id, document_id
        )

    async def url(self, library_id: str, document_id: str) -> str:
        """Return a document's address that works without a key for 30 minutes."""
        return await self._call(str, "GET", _DOCUMENT + "/signed-url", library_id, document_id)

    async def download(
        self, library_id: str, document_id: str, to: Path, on_progress: Progress | None = None
    ) -> Path:
        """Download a document to the path `to` from its signed address, without the key."""
        url = await self.url(library_id, document_id)
        async with self._transport.open_signed(url) as response:
            return await save(response, to, on_progress)

    async def reprocess(self, library_id: str, document_id: str) -> None:
        """Queue a document for another processing."""
        await self._send("POST", _DOCUMENT + "/reprocess", library_id, document_id)
