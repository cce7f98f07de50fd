"""The loaded lists: libraries, and the documents of the selected one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from carrel.store.cache.last_seen import LastSeen, Seen
from carrel.store.core.actions.slice import Slice
from carrel.store.core.lists import Sort, last_page, with_page
from carrel.store.libraries.processing import ProcessingItems
from carrel.store.libraries.state import LibrariesState
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import DocumentList, SortBy
    from carrel.wire.libraries import Library

SORT_FIELDS: Mapping[str, SortBy] = {
    "name": "name",
    "status": "processing_status",
    "pages": "number_of_pages",
    "added": "created_at",
}
"""Sort fields of the service by column name."""
NEWEST = Sort("added", descending=True)


class LibraryLists:
    """Loads the service's lists into the slice."""

    def __init__(
        self,
        slice: Slice[LibrariesState],
        session: SessionService,
        last_seen: LastSeen,
        processing: ProcessingItems,
    ) -> None:
        self._slice = slice
        self._session = session
        self._last_seen = last_seen
        self._processing = processing

    async def load_libraries(self) -> None:
        """Load the libraries; select the first if the selected one is gone."""
        from carrel.wire.libraries import Library

        selected = self._slice.value.selected
        seen = await self._last_seen.ask("libraries", tuple[Library, ...], self._every)
        items = seen.value
        self._slice.set(items=items, as_of=seen.as_of, loaded=True)
        # A library selected meanwhile may be newer than this list.
        if self._slice.value.selected == selected and selected not in {item.id for item in items}:
            self.choose(items[0].id if items else None)

    async def list_all(self) -> tuple[Library, ...]:
        """Return all libraries of the service, without changing the list."""
        return await self._every(await self._session.client())

    async def _every(self, client: Client) -> tuple[Library, ...]:
        return tuple([library async for library in client.libraries.every()])

    async def _ask_documents(self, library_id: str, page: int) -> Seen[DocumentList]:
        from carrel.wire.documents import DocumentList

        size = self._slice.value.page_size
        sort = self._slice.value.sort or NEWEST
        return await self._last_seen.ask(
            f"documents {(library_id, page, size, sort.column, sort.descending)}",
            DocumentList,
            lambda client: client.documents.list(
                library_id,
                page=page,
                page_size=size,
                sort_by=SORT_FIELDS[sort.column],
                sort_order="desc" if sort.descending else "asc",
            ),
        )

    async def load_documents(self, page: int) -> None:
        """Load a page of a library's documents; drop it if another library was selected
        meanwhile."""
        library_id = self._slice.value.selected
        if library_id is None:
            return
        answer = await self._ask_documents(library_id, page)
        found = answer.value
        if self._slice.value.selected != library_id:
            return
        documents, total = tuple(found.data), found.pagination.total_items
        if not documents and page > (last := last_page(total, self._slice.value.page_size)):
            # The last page became empty.
            return await self.load_documents(last)
        # A changed list shifts the items of cached pages.
        seen = with_page(
            self._slice.value.seen if total == self._slice.value.total else {}, page, documents
        )
        self._slice.set(documents=documents, total=total, page=page, seen=seen, as_of=answer.as_of)
        if self._slice.value.find(self._slice.value.document) is None:
            self._slice.set(document=documents[0].id if documents else None, text=None)
        for document in documents if answer.as_of is None else ():
            self._processing.show(document)

    def choose(self, library_id: str | None) -> None:
        """Select a library without loading its documents."""
        self._slice.set(
            selected=library_id,
            documents=(),
            total=None,
            page=0,
            seen={},
            document=None,
            text=None,
            marked={},
            query="",
            hits=(),
            search_error=None,
        )
