"""The libraries of a service, the search in them, and who they are shared with."""

import builtins
from collections.abc import AsyncIterator

from carrel.client.http.area import Area
from carrel.client.http.keywords import fields_of
from carrel.client.http.paging import every
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
        """Return a page of the libraries that are one's own or shared with one.

        Pages count from 0.
        """
        return await self._call(LibraryList, "GET", "/v1/libraries", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[Library]:
        """Return all libraries, or those whose name has a text, page after page."""
        return every(self.list, lambda library: library.id, search=search)

    async def embeddings(self, library_id: str) -> LibraryEmbeddings:
        """Return the embedding model of a library; an extension of the bundled server."""
        return await self._call(LibraryEmbeddings, "GET", "/v1/libraries/{}/embeddings", library_id)

    async def change_embeddings(self, library_id: str, model: str) -> LibraryEmbeddings:
        """Embed a library anew with another model, in the background."""
        body = EmbeddingsChange(model=model).body()
        return await self._call(
            LibraryEmbeddings, "PUT", "/v1/libraries/{}/embeddings", library_id, body=body
        )

    @fields_of(LibraryCreate)
    async def create(self, library: LibraryCreate, *, if_absent: bool = False) -> Library:
        """Make an empty library, of a LibraryCreate or of its fields as keywords.

        With `if_absent`, the bundled server answers with your own of that name instead, if there is
        one; two who ask at once get the same.
        """
        return await self._call(
            Library,
            "POST",
            "/v1/libraries",
            body=library.body(),
            prefer="if-absent" if if_absent else None,
        )

    async def get(self, library_id: str) -> Library:
        """Return one library's particulars."""
        return await self._call(Library, "GET", "/v1/libraries/{}", library_id)

    @fields_of(LibraryUpdate)
    async def update(self, library_id: str, changes: LibraryUpdate) -> Library:
        """Change a library's name or description, given as keywords or as a LibraryUpdate."""
        return await self._call(Library, "PUT", "/v1/libraries/{}", library_id, body=changes.body())

    async def delete(self, library_id: str) -> None:
        """Remove a library with all its documents."""
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
        """Return the passages that fit best, best first. The bundled server alone offers this.

        `document_ids` and `filters_attributes`, a JSON object, restrict it to some documents.
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
        """Return everyone a library is shared with."""
        answer = await self._call(SharingList, "GET", "/v1/libraries/{}/share", library_id)
        return answer.data

    @fields_of(ShareRequest)
    async def share(self, library_id: str, share: ShareRequest) -> Sharing:
        """Share a library, or change how it is shared.

        `share`: a ShareRequest, or its fields as keywords.
        """
        return await self._call(
            Sharing, "PUT", "/v1/libraries/{}/share", library_id, body=share.body()
        )

    @fields_of(ShareRemoval)
    async def unshare(self, library_id: str, removal: ShareRemoval) -> None:
        """Take a share back, named by a ShareRemoval or by its fields as keywords."""
        await self._send("DELETE", "/v1/libraries/{}/share", library_id, body=removal.body())
