"""The libraries of a service, the search in them, and who they are shared with."""

import builtins
from collections.abc import AsyncIterator

from carrel.client.http.keywords import fields_of
from carrel.client.http.paging import PAGE, every
from carrel.client.http.transport import Transport, path_of
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


class Libraries:
    """`/v1/libraries`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        page: int = 0,
        page_size: int = 100,
        page_token: str | None = None,
        search: str | None = None,
        filter_owned_by_me: bool | None = None,
    ) -> LibraryList:
        """Return a page of the libraries that are one's own or shared with one.

        Pages count from 0.
        """
        query = LibraryQuery(
            page=page,
            page_size=page_size,
            page_token=page_token,
            search=search,
            filter_owned_by_me=filter_owned_by_me,
        )
        return await self._transport.call(LibraryList, "GET", "/v1/libraries", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[Library]:
        """Return all libraries, or those whose name has a text, page after page."""

        async def page(number: int) -> builtins.list[Library]:
            return (await self.list(page=number, page_size=PAGE, search=search)).data

        return every(page, lambda library: library.id)

    async def embeddings(self, library_id: str) -> LibraryEmbeddings:
        """Return the embedding model of a library; an extension of the bundled server."""
        path = path_of("/v1/libraries/{}/embeddings", library_id)
        return await self._transport.call(LibraryEmbeddings, "GET", path)

    async def change_embeddings(self, library_id: str, model: str) -> LibraryEmbeddings:
        """Embed a library anew with another model, in the background."""
        path = path_of("/v1/libraries/{}/embeddings", library_id)
        body = EmbeddingsChange(model=model).body()
        return await self._transport.call(LibraryEmbeddings, "PUT", path, body=body)

    @fields_of(LibraryCreate)
    async def create(self, library: LibraryCreate, *, if_absent: bool = False) -> Library:
        """Make an empty library, of a LibraryCreate or of its fields as keywords.

        With `if_absent`, the bundled server answers with your own of that name instead, if there is
        one; two who ask at once get the same.
        """
        return await self._transport.call(
            Library,
            "POST",
            "/v1/libraries",
            body=library.body(),
            prefer="if-absent" if if_absent else None,
        )

    async def get(self, library_id: str) -> Library:
        """Return one library's particulars."""
        return await self._transport.call(Library, "GET", path_of("/v1/libraries/{}", library_id))

    @fields_of(LibraryUpdate)
    async def update(self, library_id: str, changes: LibraryUpdate) -> Library:
        """Change a library's name or description, given as keywords or as a LibraryUpdate."""
        return await self._transport.call(
            Library, "PUT", path_of("/v1/libraries/{}", library_id), body=changes.body()
        )

    async def delete(self, library_id: str) -> None:
        """Remove a library with all its documents."""
        await self._transport.send("DELETE", path_of("/v1/libraries/{}", library_id))

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
        return await self._transport.call(
            SearchResult,
            "GET",
            path_of("/v1/libraries/{}/search", library_id),
            query=SearchQuery(
                query=query,
                limit=limit,
                document_ids=document_ids,
                filters_attributes=filters_attributes,
            ),
        )

    async def shares(self, library_id: str) -> builtins.list[Sharing]:
        """Return everyone a library is shared with."""
        answer = await self._transport.call(
            SharingList, "GET", path_of("/v1/libraries/{}/share", library_id)
        )
        return answer.data

    @fields_of(ShareRequest)
    async def share(self, library_id: str, share: ShareRequest) -> Sharing:
        """Share a library, or change how it is shared.

        `share`: a ShareRequest, or its fields as keywords.
        """
        return await self._transport.call(
            Sharing, "PUT", path_of("/v1/libraries/{}/share", library_id), body=share.body()
        )

    @fields_of(ShareRemoval)
    async def unshare(self, library_id: str, removal: ShareRemoval) -> None:
        """Take a share back, named by a ShareRemoval or by its fields as keywords."""
        await self._transport.send(
            "DELETE", path_of("/v1/libraries/{}/share", library_id), body=removal.body()
        )
