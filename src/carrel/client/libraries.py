"""The libraries of a service, their search and their sharing."""

import builtins
from collections.abc import AsyncIterator

from carrel.client.http.area import Area, every
from carrel.client.http.keywords import fields_of
from carrel.wire.libraries import (
    EmbeddingsChange,
    Library,
    LibraryCreate,
    LibraryEmbeddings,
    LibraryList,
    LibraryQuery,
    LibraryUpdate,
    SearchQuery,
    SearchResult,
    ShareRemoval,
    ShareRequest,
    Sharing,
    SharingList,
)


class Libraries(Area):
    """`/v1/libraries`."""

    @fields_of(LibraryQuery)
    async def list(self, query: LibraryQuery) -> LibraryList:
        """Return a page of the libraries that are the caller's own or shared with the caller.

        Pages count from 0.
        """
        return await self._call(LibraryList, "GET", "/v1/libraries", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[Library]:
        """Yield all libraries, or those whose name contains `search`, page by page."""
        return every(self.list, lambda library: library.id, search=search)

    async def embeddings(self, library_id: str) -> LibraryEmbeddings:
        """Return the embedding model of a library; an extension of the bundled server."""
        return await self._call(LibraryEmbeddings, "GET", "/v1/libraries/{}/embeddings", library_id)

    async def change_embeddings(self, library_id: str, model: str) -> LibraryEmbeddings:
        """Embed a library again with another model, in the background."""
        body = EmbeddingsChange(model=model).body()
        return await self._call(
            LibraryEmbeddings, "PUT", "/v1/libraries/{}/embeddings", library_id, body=body
        )

    @fields_of(LibraryCreate)
    async def create(self, library: LibraryCreate, *, if_absent: bool = False) -> Library:
        """Create an empty library, from a LibraryCreate or its fields as keywords.

        `if_absent` makes the bundled server return your own library of that name if it exists;
        concurrent calls get the same library.
        """
        return await self._call(
            Library,
            "POST",
            "/v1/libraries",
            body=library.body(),
            prefer="if-absent" if if_absent else None,
        )

    async def get(self, library_id: str) -> Library:
        """Return a library's metadata."""
        return await self._call(Library, "GET", "/v1/libraries/{}", library_id)

    @fields_of(LibraryUpdate)
    async def update(self, library_id: str, changes: LibraryUpdate) -> Library:
        """Change a library's name or description, as keywords or as a LibraryUpdate."""
        return await self._call(Library, "PUT", "/v1/libraries/{}", library_id, body=changes.body())

    async def delete(self, library_id: str) -> None:
        """Delete a library with all its documents."""
        await self._send("DELETE", "/v1/libraries/{}", library_id)

    async def search(
        self,
        library_id: str,
        query: str,
        limit: int = 10,
        *,
        document_ids: builtins.list[str] | None = None,
        filters_attributes: str | None = None,
    ) -> SearchResult:
        """Return the best passages, best first. Only the bundled server offers this.

        `document_ids` and `filters_attributes`, a JSON object, limit it to some documents.
        """
        asked = SearchQuery(
            query=query,
            limit=limit,
            document_ids=document_ids,
            filters_attributes=filters_attributes,
        )
        path = "/v1/libraries/{}/search"
        return await self._call(SearchResult, "GET", path, library_id, query=asked)

    async def shares(self, library_id: str) -> builtins.list[Sharing]:
        """Return all shares of a library."""
        answer = await self._call(SharingList, "GET", "/v1/libraries/{}/share", library_id)
        return answer.data

    @fields_of(ShareRequest)
    async def share(self, library_id: str, share: ShareRequest) -> Sharing:
        """Share a library, or change a share.

        `share`: a ShareRequest, or its fields as keywords.
        """
        return await self._call(
            Sharing, "PUT", "/v1/libraries/{}/share", library_id, body=share.body()
        )

    @fields_of(ShareRemoval)
    async def unshare(self, library_id: str, removal: ShareRemoval) -> None:
        """Remove a share, given as a ShareRemoval or its fields as keywords."""
        await self._send("DELETE", "/v1/libraries/{}/share", library_id, body=removal.body())
