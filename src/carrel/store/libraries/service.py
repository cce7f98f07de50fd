"""Libraries: their documents, processing status, search and text."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.store.activity.notifications import NotificationsService
from carrel.store.activity.service import ActivityItem, ActivityService, Entry
from carrel.store.activity.uploads import through
from carrel.store.core.action import Policy, action, instant
from carrel.store.core.deleting import delete_each
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.marking import toggled, without
from carrel.store.core.paging import Seen, last_page, with_page
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.files.service import UploadSource, expanded, source_name
from carrel.store.libraries.words import document_phase
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.documents import AttributeValue, Document
    from carrel.wire.libraries import Library, SearchHit

POLL, POLL_HOSTED = 1.0, 5.0
"""Seconds between two looks at documents that are not processed yet: on this machine, hosted."""


@dataclass(frozen=True, slots=True)
class LibrariesState:
    """The libraries; a page of the selected one's documents; its search.

    `seen` has the pages of documents seen before; `total` and `page` are those of the documents;
    pages count from 0. `document` is the selected document, `text` its text once asked for;
    `marked` has the marked documents by id, also those of other pages.
    """

    items: tuple[Library, ...] = ()
    selected: str | None = None
    documents: tuple[Document, ...] = ()
    total: int | None = None
    page: int = 0
    page_size: int = 50
    seen: Seen[Document] = field(default_factory=dict, repr=False)
    document: str | None = None
    marked: Mapping[str, Document] = field(default_factory=dict, repr=False)
    text: str | None = None
    query: str = ""
    hits: tuple[SearchHit, ...] = ()
    loaded: bool = False
    loading: bool = False
    searching: bool = False
    error: Problem | None = None

    @property
    def last_page(self) -> int:
        """The number of the last page of the documents."""
        return last_page(self.total, self.page_size)

    def at(self, index: int) -> Document | None:
        """The document in this place of the whole list, if it was seen."""
        page, row = divmod(index, self.page_size)
        documents = self.documents if page == self.page else self.seen.get(page, ())
        return documents[row] if row < len(documents) else None

    def find(self, document_id: str | None) -> Document | None:
        """A document of the selected library that was seen."""
        pages = (self.documents, *self.seen.values())
        return next((one for page in pages for one in page if one.id == document_id), None)

    def library(self, library_id: str | None) -> Library | None:
        """A library."""
        return next((one for one in self.items if one.id == library_id), None)


class LibrariesService(Area[LibrariesState]):
    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        activity: ActivityService,
        notifications: NotificationsService,
    ) -> None:
        super().__init__(loop, LibrariesState(), session)
        self._activity = activity
        self._notifications = notifications

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Loads the libraries, and the selected one's documents."""
        await self._load()

    @action(Policy.RENEW, lane="load")
    async def reload(self) -> None:
        """Loads the same after something has changed: a load that began before is not enough."""
        await self._load()

    async def _load(self) -> None:
        with self._loading():
            await self._load_libraries()
        await self._load_documents_again()

    @action(Policy.RENEW, lane="load")
    async def _load_libraries_again(self) -> None:
        await self._load_libraries()

    @action(Policy.LATEST, lane="documents")
    def select(self, library_id: str | None) -> Coroutine[Any, Any, None]:
        """Makes a library the selected one and loads its documents."""
        if library_id != self.slice.value.selected:
            self._choose(library_id)
        return self._show_documents()

    @action(Policy.QUEUE, changes=True)
    def create(self, name: str, description: str | None = None) -> Coroutine[Any, Any, Library]:
        """Makes a library, and selects it unless another was selected meanwhile."""
        if not name.strip():
            raise ProblemError(Problem("A library needs a name", "This one has none."))
        return self._create(name, description, self.slice.value.selected)

    async def _create(self, name: str, description: str | None, selected: str | None) -> Library:
        from carrel.wire.libraries import LibraryCreate

        client = await self._session.client()
        library = await client.libraries.create(LibraryCreate(name=name, description=description))
        if self.slice.value.selected == selected:
            self._choose(library.id)
        await self.reload()
        return library

    @action(Policy.QUEUE, changes=True)
    async def rename(self, library_id: str, name: str) -> None:
        """Gives a library another name."""
        from carrel.wire.libraries import LibraryUpdate

        client = await self._session.client()
        await client.libraries.update(library_id, LibraryUpdate(name=name))
        await self._load_libraries_again()

    @action(Policy.QUEUE, changes=True)
    def delete(self, library_ids: Iterable[str]) -> Coroutine[Any, Any, int]:
        """Deletes libraries with their documents, and gives their number.

        Those already gone count as deleted.
        """
        known = {id: self.slice.value.library(id) for id in library_ids}
        return self._delete({id: library.name if library else id for id, library in known.items()})

    async def _delete(self, names: Mapping[str, str]) -> int:
        client = await self._session.client()
        with self._loading():
            deleted = await delete_each(names, client.libraries.delete, self._forget_library)
        self._notifications.notify(deleted.words("library", "libraries"))
        await self.reload()
        deleted.check("library", "libraries")
        return deleted.done

    @action(Policy.LATEST, lane="documents")
    async def load_documents(self, page: int) -> None:
        """Loads a page of the selected library's documents and shows it."""
        await self._show_documents(page)

    @action(Policy.RENEW, lane="documents")
    async def _load_documents_again(self) -> None:
        await self._show_documents(self.slice.value.page)

    @action(Policy.RENEW, lane="documents")
    async def _show_newest(self) -> None:
        await self._show_documents()

    @instant
    def select_document(self, document_id: str | None) -> None:
        """Makes a document the selected one."""
        self.slice.set(document=document_id, text=None)

    @action(Policy.LATEST)
    def search(self, query: str) -> Coroutine[Any, Any, None]:
        """Searches the selected library; an empty query ends the search."""
        self.slice.set(query=query, hits=(), error=None)
        return self._search(self.slice.value.selected, query)

    async def _search(self, library_id: str | None, query: str) -> None:
        from carrel.client.errors import NotFound

        if not query.strip() or library_id is None:
            return
        self.slice.set(searching=True)
        try:
            client = await self._session.client()
            result = await client.libraries.search(library_id, query, limit=20)
            if self.slice.value.selected == library_id:
                self.slice.set(hits=tuple(result.data))
        except NotFound:
            raise ProblemError(
                Problem("No search here", "This service does not search its libraries.")
            ) from None
        finally:
            self.slice.set(searching=False)

    @action(Policy.LATEST)
    def show_text(self, library_id: str, document_id: str) -> Coroutine[Any, Any, str]:
        """Loads the text of a document, and shows it if the document is still the selected one."""
        if library_id == self.slice.value.selected:
            self.slice.set(document=document_id, text=None)
        return self._show_text(library_id, document_id)

    async def _show_text(self, library_id: str, document_id: str) -> str:
        client = await self._session.client()
        text = await client.documents.text(library_id, document_id)
        state = self.slice.value
        if (state.selected, state.document) == (library_id, document_id):
            self.slice.set(text=text)
        return text

    @action(Policy.QUEUE, changes=True)
    def delete_documents(
        self, library_id: str, document_ids: Iterable[str]
    ) -> Coroutine[Any, Any, int]:
        """Deletes documents of a library, and gives their number.

        Those already gone count as deleted.
        """
        state = self.slice.value
        known = {id: state.marked.get(id) or state.find(id) for id in document_ids}
        names = {id: document.name if document else id for id, document in known.items()}
        return self._delete_documents(library_id, names)

    async def _delete_documents(self, library_id: str, names: Mapping[str, str]) -> int:
        client = await self._session.client()
        deleted = await delete_each(
            names,
            lambda id: client.documents.delete(library_id, id),
            lambda id: self.slice.set(marked=without(self.slice.value.marked, id)),
        )
        self._notifications.notify(deleted.words("document", "documents"))
        await self.reload()
        deleted.check("document", "documents")
        return deleted.done

    @action(Policy.QUEUE, changes=True)
    async def update_document(
        self,
        library_id: str,
        document_id: str,
        *,
        name: str | None = None,
        attributes: Mapping[str, AttributeValue | list[AttributeValue]] | None = None,
    ) -> None:
        """Gives a document of a library another name, or these attributes alone."""
        from carrel.wire.documents import DocumentUpdate

        given = None if attributes is None else dict(attributes)
        client = await self._session.client()
        await client.documents.update(
            library_id, document_id, DocumentUpdate(name=name, attributes=given)
        )
        self._load_documents_again()

    @instant
    def mark_document(self, document_id: str) -> None:
        """Marks a document of the selected library that was seen, or takes its mark away."""
        state = self.slice.value
        self.slice.set(marked=toggled(state.marked, document_id, state.find(document_id)))

    @instant
    def mark_none(self) -> None:
        """Takes every mark away."""
        self.slice.set(marked={})

    @action(Policy.QUEUE, changes=True)
    async def reprocess(self, library_id: str, document_id: str) -> None:
        """Has a document of a library processed again."""
        client = await self._session.client()
        await client.documents.reprocess(library_id, document_id)
        self._load_documents_again()

    def upload(self, library_id: str, source: UploadSource) -> Handle[Document]:
        """Uploads a file into a library; the service then processes it.

        A source whose name is a path becomes a document of that name.
        """
        entry = self._activity.begin("upload", source_name(source))
        return entry.follow(
            self._upload(library_id, source, entry), lambda: self.upload(library_id, source)
        )

    def add_file(self, library_id: str, file_id: str) -> Handle[Document]:
        """Puts a file of the service into a library: its bytes go through this machine."""
        entry = self._activity.begin("upload", file_id, subject=file_id)
        return entry.follow(
            self._add_file(library_id, file_id, entry), lambda: self.add_file(library_id, file_id)
        )

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _upload(self, library_id: str, source: UploadSource, entry: Entry) -> Document:
        from carrel.wire.documents import DocumentUpdate

        async def send() -> Document:
            client = await self._session.client()
            entry.progress(0)
            return await client.documents.upload(
                library_id, expanded(source), on_progress=entry.progress
            )

        document = await through(self._session, entry, send)
        client = await self._session.client()
        name = source_name(source)
        if "/" in name and document.name == name.rpartition("/")[2]:
            # A file of a folder; services take only the last part of an upload's name.
            document = await client.documents.update(
                library_id, document.id, DocumentUpdate(name=name)
            )
        return await self._added(library_id, document, entry)

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _add_file(self, library_id: str, file_id: str, entry: Entry) -> Document:
        client = await self._session.client()
        file = await client.files.get(file_id)
        entry.rename(file.filename)
        if file.bytes is None:
            raise ProblemError(
                Problem("Not possible here", "The service does not tell how large the file is.")
            )
        async with client.files.content(file_id) as content:
            document = await client.documents.upload(
                library_id, (file.filename, file.bytes, content), on_progress=entry.progress
            )
        return await self._added(library_id, document, entry)

    async def _added(self, library_id: str, document: Document, entry: Entry) -> Document:
        entry.about(document.id)
        # At once: what fails quickly may be over before the list is loaded again.
        self._show_processing(document)
        self._notifications.notify(f"Added {document.name}.")
        self._load_libraries_again()
        if library_id == self.slice.value.selected:
            self._show_newest()
        return document

    async def _show_documents(self, page: int = 0) -> None:
        with self._loading():
            await self._load_documents(page)
        if self._unfinished():
            self._poll()

    @action(Policy.JOIN)
    async def _poll(self) -> None:
        """Loads the documents again and again while one of them is not processed yet."""
        while self._unfinished():
            await asyncio.sleep(POLL_HOSTED if self._session.slice.value.hosted else POLL)
            await self._look_quietly()
        await self._load_libraries_again()

    @action(Policy.JOIN, lane="documents")
    async def _look_quietly(self) -> None:
        from carrel.client.errors import Unreachable

        # A lost server is the session's affair; a later look may find it again.
        with contextlib.suppress(Unreachable):
            await self._load_documents(self.slice.value.page)

    async def _load_libraries(self) -> None:
        selected = self.slice.value.selected
        client = await self._session.client()
        items = [library async for library in client.libraries.every()]
        self.slice.set(items=tuple(items), loaded=True)
        # One that was selected meanwhile may be newer than this list.
        if self.slice.value.selected == selected and selected not in {one.id for one in items}:
            self._choose(items[0].id if items else None)

    async def _load_documents(self, page: int) -> None:
        """Loads a page of the selected library, if it is still the selected one by then."""
        library_id = self.slice.value.selected
        if library_id is None:
            return
        client = await self._session.client()
        size = self.slice.value.page_size
        found = await client.documents.list(library_id, page=page, page_size=size)
        if self.slice.value.selected != library_id:
            return
        documents, total = tuple(found.data), found.pagination.total_items
        if not documents and page > last_page(total, size):
            # The last documents of the last page are gone.
            return await self._load_documents(last_page(total, size))
        # Where the list has changed, every page has other documents.
        seen = with_page(
            self.slice.value.seen if total == self.slice.value.total else {}, page, documents
        )
        self.slice.set(documents=documents, total=total, page=page, seen=seen)
        if self.slice.value.find(self.slice.value.document) is None:
            self.slice.set(document=documents[0].id if documents else None, text=None)
        for document in documents:
            self._show_processing(document)

    def _show_processing(self, document: Document) -> None:
        """Shows in the activity how far the service is with a document."""
        phase, item_id = document_phase(document), f"processing-{document.id}"
        known = self._activity.find(item_id)
        if phase in ("queued", "processing") and (known is None or known.ended):
            self._activity.show(
                ActivityItem(item_id, "processing", document.name, subject=document.id)
            )
            self._activity.set_again(
                item_id, lambda: self.reprocess(document.library_id, document.id)
            )
        if phase == "processing":
            self._activity.change(item_id, status="running")
        elif phase == "ready":
            self._activity.change(item_id, status="done")
        elif phase == "failed":
            error = Problem("Processing failed", document.error or "The service gives no reason.")
            self._activity.change(item_id, status="failed", error=error)

    def _unfinished(self) -> bool:
        return any(
            document_phase(document) in ("queued", "processing")
            for document in self.slice.value.documents
        )

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

    def _forget_library(self, library_id: str) -> None:
        items = self.slice.value.items
        self.slice.set(items=tuple(one for one in items if one.id != library_id))
