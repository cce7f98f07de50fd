"""Loads the libraries and the documents of the selected one, and follows their processing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from carrel.store.activity.service import ActivityService
from carrel.store.cache.last_seen import LastSeen, Seen
from carrel.store.core.action import Policy, action
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.paging import last_page, with_page
from carrel.store.core.sorting import Sort
from carrel.store.libraries.phase import UNFINISHED, document_phase
from carrel.store.libraries.processing import ProcessingItems
from carrel.store.libraries.state import LibrariesState
from carrel.store.notifications.service import NotificationsService
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService
from carrel.store.trash.service import TrashService

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import Document, DocumentList, SortBy
    from carrel.wire.libraries import Library


POLL, POLL_HOSTED = 1.0, 5.0
"""Poll interval in seconds for unprocessed documents: on this machine, hosted."""
SORT_FIELDS: Mapping[str, SortBy] = {
    "name": "name",
    "status": "processing_status",
    "pages": "number_of_pages",
    "added": "created_at",
}
"""The columns that services sort documents by, with their names there."""
NEWEST = Sort("added", descending=True)
AWAITED = 0.3
"""Poll interval in seconds for a document that a caller waits for."""


class LibraryLists(Area[LibrariesState]):
    """The lists as the service has them; polls documents until they are processed."""

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        activity: ActivityService,
        notifications: NotificationsService,
        trash: TrashService,
        last_seen: LastSeen,
    ) -> None:
        super().__init__(loop, LibrariesState(), session)
        self._last_seen = last_seen
        self._activity = activity
        self._processing = ProcessingItems(activity, self.reprocess)
        self._notifications = notifications
        self._trash = trash

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Loads the libraries, and the selected one's documents."""
        await self._load()

    @action(Policy.RENEW, lane="load")
    async def reload(self) -> None:
        """Loads again after a change: does not join a load that began before it."""
        await self._load()

    async def _load(self) -> None:
        with self._loading():
            await self._load_libraries()
        await self._load_documents_again()

    @action(Policy.RENEW, lane="load")
    async def _load_libraries_again(self) -> None:
        await self._load_libraries()

    @action(Policy.BESIDE)
    async def every(self) -> Sequence[Library]:
        """All libraries of the service; the lists stay as they are."""
        return await self._every()

    @action(Policy.BESIDE)
    async def wait_processed(self, document: Document) -> Document:
        """Waits until a document is processed, and gives it as it is then."""
        return await self._wait_processed(document)

    @action(Policy.BESIDE)
    async def wait_all_processed(self, library_id: str) -> None:
        """Waits until every document of a library is processed."""
        client = await self._session.client()
        for document in [each async for each in client.documents.every(library_id)]:
            await self._wait_processed(document)

    async def _wait_processed(self, document: Document) -> Document:
        while document_phase(document) in UNFINISHED:
            await asyncio.sleep(AWAITED)
            client = await self._session.client()
            document = await client.documents.get(document.library_id, document.id)
        return document

    @action(Policy.LATEST, lane="documents")
    def select(self, library_id: str | None) -> Coroutine[Any, Any, None]:
        """Makes a library the selected one and loads its documents."""
        if library_id != self.slice.value.selected:
            self._choose(library_id)
        return self._show_documents()

    @action(Policy.LATEST, lane="documents")
    async def load_documents(self, page: int) -> None:
        """Loads a page of the selected library's documents and shows it."""
        await self._show_documents(page)

    @action(Policy.LATEST, lane="documents")
    async def sort(self, sort: Sort | None) -> None:
        """Has the service sort the documents by a column of SORT_FIELDS."""
        self.slice.set(sort=sort, seen={})
        await self._show_documents()

    @action(Policy.RENEW, lane="documents")
    async def _load_documents_again(self) -> None:
        await self._show_documents(self.slice.value.page)

    @action(Policy.RENEW, lane="documents")
    async def _show_newest(self) -> None:
        await self._show_documents()

    @action(Policy.QUEUE, changes=True)
    async def reprocess(self, library_id: str, document_id: str) -> None:
        """Has a document of a library processed again."""
        client = await self._session.client()
        await client.documents.reprocess(library_id, document_id)
        self._load_documents_again()

    async def _show_documents(self, page: int = 0) -> None:
        with self._loading():
            await self._load_documents(page)
        if self.slice.value.as_of is None and self._processing:
            self._poll()

    @action(Policy.JOIN)
    async def _poll(self) -> None:
        """Polls documents until all that were seen are processed."""
        while self._processing:
            await asyncio.sleep(POLL_HOSTED if self._session.slice.value.hosted else POLL)
            await self._look_quietly()
        await self._load_libraries_again()

    @action(Policy.JOIN, lane="documents")
    async def _look_quietly(self) -> None:
        from carrel.client.errors import Unreachable

        # The session handles a lost server; a later poll may succeed.
        with contextlib.suppress(Unreachable):
            await self._load_documents(self.slice.value.page)
            seen = {document.id for document in self.slice.value.documents}
            await self._processing.look(await self._session.client(), seen)

    async def _load_libraries(self) -> None:
        selected = self.slice.value.selected
        seen = await self._seen_libraries()
        items = seen.value
        self.slice.set(items=items, as_of=seen.as_of, loaded=True)
        # A library selected meanwhile may be newer than this list.
        if self.slice.value.selected == selected and selected not in {one.id for one in items}:
            self._choose(items[0].id if items else None)

    async def _every(self) -> tuple[Library, ...]:
        client = await self._session.client()
        return tuple([library async for library in client.libraries.every()])

    async def _seen_libraries(self) -> Seen[tuple[Library, ...]]:
        from carrel.wire.libraries import Library

        async def every(_: Client) -> tuple[Library, ...]:
            return await self._every()

        return await self._last_seen.ask("libraries", tuple[Library, ...], every)

    async def _seen_documents(self, library_id: str, page: int) -> Seen[DocumentList]:
        from carrel.wire.documents import DocumentList

        size = self.slice.value.page_size
        sort = self.slice.value.sort or NEWEST
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

    async def _load_documents(self, page: int) -> None:
        """Loads a page of the selected library, if it is still the selected one by then."""
        library_id = self.slice.value.selected
        if library_id is None:
            return
        answer = await self._seen_documents(library_id, page)
        found = answer.value
        if self.slice.value.selected != library_id:
            return
        documents, total = tuple(found.data), found.pagination.total_items
        if not documents and page > (last := last_page(total, self.slice.value.page_size)):
            # The last page is empty now.
            return await self._load_documents(last)
        # A changed list shifts the items of cached pages.
        seen = with_page(
            self.slice.value.seen if total == self.slice.value.total else {}, page, documents
        )
        self.slice.set(documents=documents, total=total, page=page, seen=seen, as_of=answer.as_of)
        if self.slice.value.find(self.slice.value.document) is None:
            self.slice.set(document=documents[0].id if documents else None, text=None)
        for document in documents if answer.as_of is None else ():
            self._processing.show(document)

    def _choose(self, library_id: str | None) -> None:
        self.slice.set(
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
        )
