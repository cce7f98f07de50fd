"""Libraries: their documents, processing status, search and text."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.client.http.errors import NotFound, Unreachable
from carrel.store.activity.service import ActivityEntry, Report
from carrel.store.activity.uploads import (
    UploadSource,
    describe_upload,
    expand_home,
    retry_while_lost,
    source_name,
)
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.handle import Handle
from carrel.store.core.deleting import delete_each
from carrel.store.core.lists import Sort, invert, toggle, unmark, with_range
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.journal.entries import UPLOAD_DOCUMENT, Entry
from carrel.store.libraries.lists import LibraryLists
from carrel.store.libraries.phase import wait_processed
from carrel.store.libraries.processing import ProcessingItems
from carrel.store.libraries.state import LibrariesState
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.wire.documents import AttributeValue, Document
    from carrel.wire.libraries import Library, LibraryCreate

    Marking = Callable[[Mapping[str, Document], Mapping[str, Document]], Mapping[str, Document]]


ADD = "add a file to a library"
"""Name of the task in the journal."""

POLL, POLL_HOSTED = 1.0, 5.0
"""Poll interval in seconds for unprocessed documents: on this machine, hosted."""

LINK_HOURS = 0.5
"""Hours for which the address of a document works, as the interface has it."""
AWAITED = 0.3
"""Poll interval in seconds for a document that a caller awaits."""


class LibrariesService(Area, Service[LibrariesState]):
    """Libraries and their documents; polls documents until they are processed."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, LibrariesState())
        self._processing = ProcessingItems(shared.activity, self.reprocess)
        self._lists = LibraryLists(self.slice, shared.session, shared.last_seen, self._processing)
        shared.activity.set_task(UPLOAD_DOCUMENT, self._upload_left)
        shared.activity.set_task(ADD, self._add_left)

    # Lists

    async def _load(self) -> None:
        """Load the libraries, and the selected one's documents."""
        with self._set_loading():
            await self._lists.load_libraries()
        await self._load_documents_again().settled()

    @action(Policy.RENEW, lane="load")
    async def _load_libraries_again(self) -> None:
        await self._lists.load_libraries()

    @action(Policy.BESIDE)
    async def list_all(self) -> Sequence[Library]:
        """Return all libraries of the service, without changing the lists."""
        return await self._lists.list_all()

    @action(Policy.BESIDE)
    async def wait_processed(self, document: Document) -> Document:
        """Wait until a document is processed; return its final state."""
        return await wait_processed(await self._session.client(), document, AWAITED)

    @action(Policy.BESIDE)
    async def wait_all_processed(self, library_id: str) -> None:
        """Wait until every document of a library is processed."""
        client = await self._session.client()
        for document in [each async for each in client.documents.every(library_id)]:
            await wait_processed(client, document, AWAITED)

    @instant
    def begin_with(self, library_id: str) -> None:
        """Select a library before the list is loaded; a library that is gone is not kept."""
        self._lists.choose(library_id)

    @action(Policy.LATEST, lane="documents")
    def select(self, library_id: str | None) -> Coroutine[Any, Any, None]:
        """Select a library and load its documents."""
        if library_id != self.slice.value.selected:
            self._lists.choose(library_id)
        return self._show_documents()

    @action(Policy.LATEST, lane="documents")
    async def load_documents(self, page: int) -> None:
        """Load a page of the selected library's documents and show it."""
        await self._show_documents(page)

    @action(Policy.LATEST, lane="documents")
    async def sort(self, sort: Sort | None) -> None:
        """Let the service sort the documents by a column of SORT_FIELDS."""
        self.slice.set(sort=sort, seen={})
        await self._show_documents()

    @action(Policy.RENEW, lane="documents")
    async def _load_documents_again(self, page: int | None = None) -> None:
        await self._show_documents(self.slice.value.page if page is None else page)

    @action(Policy.QUEUE, changes=True)
    async def reprocess(self, library_id: str, document_id: str) -> None:
        """Process a document again."""
        client = await self._session.client()
        await client.documents.reprocess(library_id, document_id)
        self._load_documents_again()

    async def _show_documents(self, page: int = 0) -> None:
        with self._set_loading():
            await self._lists.load_documents(page)
        if self.slice.value.as_of is None and self._processing:
            self._poll()

    @action(Policy.JOIN)
    async def _poll(self) -> None:
        """Poll documents until all known ones are processed."""
        while self._processing:
            await asyncio.sleep(POLL_HOSTED if self._session.slice.value.hosted else POLL)
            await self._look_quietly().settled()
        await self._load_libraries_again().settled()

    @action(Policy.JOIN, lane="documents")
    async def _look_quietly(self) -> None:
        # The session handles a lost server; a later poll may succeed.
        with contextlib.suppress(Unreachable):
            await self._lists.load_documents(self.slice.value.page)
            seen = {document.id for document in self.slice.value.documents}
            await self._processing.look(await self._session.client(), seen)

    # Libraries

    @action(Policy.QUEUE, changes=True)
    def create(
        self, name: str, description: str | None = None, *, if_absent: bool = False
    ) -> Coroutine[Any, Any, Library]:
        """Create a library; select it unless another was selected meanwhile.

        `if_absent` returns an existing library of this name instead of creating a second.
        """
        if not name.strip():
            raise ProblemError("A library needs a name", "This one has none.")
        from carrel.wire.libraries import LibraryCreate

        new = LibraryCreate(name=name, description=description)
        return self._create(new, if_absent, self.slice.value.selected)

    async def _create(self, new: LibraryCreate, if_absent: bool, selected: str | None) -> Library:
        client = await self._session.client()
        library = await client.libraries.create(new, if_absent=if_absent)
        if self.slice.value.selected == selected:
            self._lists.choose(library.id)
        await self.reload().settled()
        return library

    @action(Policy.QUEUE, changes=True)
    async def rename(self, library_id: str, name: str) -> None:
        """Rename a library."""
        from carrel.wire.libraries import LibraryUpdate

        client = await self._session.client()
        await client.libraries.update(library_id, LibraryUpdate(name=name))
        await self._load_libraries_again().settled()

    @action(Policy.QUEUE, changes=True)
    def delete(self, library_ids: Iterable[str]) -> Coroutine[Any, Any, int]:
        """Delete libraries with their documents; return their number.

        Missing ones count as deleted.
        """
        known = {id: self.slice.value.library(id) for id in library_ids}
        return self._delete({id: library.name if library else id for id, library in known.items()})

    async def _delete(self, names: Mapping[str, str]) -> int:
        client = await self._session.client()
        with self._set_loading():
            deleted = await delete_each(names, client.libraries.delete, self._forget_library)
        self._trash.note_deletion("libraries", deleted, ("library", "libraries"), self.reload)
        await self.reload().settled()
        deleted.check("library", "libraries")
        return deleted.done

    @instant
    def select_document(self, document_id: str | None) -> None:
        """Select a document."""
        self.slice.set(document=document_id, text=None)

    @action(Policy.LATEST)
    def search(self, query: str) -> Coroutine[Any, Any, None]:
        """Search the selected library; an empty query ends the search."""
        self.slice.set(query=query, hits=(), search_error=None, error=None)
        return self._search(self.slice.value.selected, query)

    async def _search(self, library_id: str | None, query: str) -> None:
        from carrel.wire.libraries import SearchResult

        if not query.strip() or library_id is None:
            return
        self.slice.set(searching=True)
        try:
            seen = await self._last_seen.ask(
                f"search {(library_id, query.strip())}",
                SearchResult,
                lambda client: client.libraries.search(library_id, query, limit=20),
            )
            if self.slice.value.selected == library_id:
                self.slice.set(hits=tuple(seen.value.data))
        except NotFound as error:
            problem = Problem("No search here", "This service does not search its libraries.")
            self.slice.set(search_error=problem)
            raise ProblemError(problem) from error
        except Exception as error:
            self.slice.set(search_error=Problem.of(error))
            raise
        finally:
            self.slice.set(searching=False)

    @action(Policy.LATEST)
    def show_text(self, library_id: str, document_id: str) -> Coroutine[Any, Any, str]:
        """Load the text of a document; show it if the document is still selected."""
        if library_id == self.slice.value.selected:
            self.slice.set(document=document_id, text=None)
        return self._show_text(library_id, document_id)

    async def _show_text(self, library_id: str, document_id: str) -> str:
        seen = await self._last_seen.ask(
            f"text {(library_id, document_id)}",
            str,
            lambda client: client.documents.text(library_id, document_id),
        )
        text, state = seen.value, self.slice.value
        if (state.selected, state.document) == (library_id, document_id):
            self.slice.set(text=text)
        return text

    @action(Policy.LATEST)
    async def signed_url(self, library_id: str, document_id: str) -> str:
        """Return an address of a document that works without a key for LINK_HOURS."""
        client = await self._session.client()
        return await client.documents.url(library_id, document_id)

    def delete_documents(self, library_id: str, document_ids: Iterable[str]) -> Handle[int]:
        """Delete documents of a library; return their number.

        Missing ones count as deleted. The deletion of several shows its progress in the activity.
        """
        state = self.slice.value
        known = {id: state.marked.get(id) or state.find(id) for id in document_ids}
        names = {id: document.name if document else id for id, document in known.items()}
        return self._activity.deletion(
            names, "documents", lambda report: self._delete_documents(library_id, names, report)
        )

    @action(Policy.QUEUE, lane="delete_documents", changes=True)
    async def _delete_documents(
        self, library_id: str, names: Mapping[str, str], report: Report
    ) -> int:
        client = await self._session.client()
        deleted = await delete_each(
            names,
            lambda id: client.documents.delete(library_id, id),
            lambda id: self.slice.set(marked=unmark(self.slice.value.marked, id)),
            report,
        )
        self._trash.note_deletion("libraries", deleted, ("document", "documents"), self.reload)
        await self.reload().settled()
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
        """Rename a document, or replace its attributes."""
        from carrel.wire.documents import DocumentUpdate

        given = None if attributes is None else dict(attributes)
        client = await self._session.client()
        await client.documents.update(
            library_id, document_id, DocumentUpdate(name=name, attributes=given)
        )
        self._load_documents_again()

    @instant
    def mark_document(self, document_id: str) -> None:
        """Toggle the mark of a document in the cached pages."""
        state = self.slice.value
        self.slice.set(marked=toggle(state.marked, document_id, state.find(document_id)))

    @instant
    def mark_range(self, document_ids: Iterable[str]) -> None:
        """Mark several documents of the cached pages."""
        state = self.slice.value
        self.slice.set(marked=with_range(state.marked, document_ids, state.find))

    @instant
    def mark_none(self) -> None:
        """Remove all marks."""
        self.slice.set(marked={})

    @action(Policy.LATEST, lane="marks")
    def mark_all(self) -> Coroutine[Any, Any, None]:
        """Mark every document of the selected library."""
        return self._mark(self.slice.value.selected, lambda marked, listed: listed)

    @action(Policy.LATEST, lane="marks")
    def invert_marks(self) -> Coroutine[Any, Any, None]:
        """Invert the marks of the selected library's documents."""
        return self._mark(self.slice.value.selected, invert)

    async def _mark(self, library_id: str | None, change: Marking) -> None:
        if library_id is None:
            return
        with self._set_loading():
            client = await self._session.client()
            listed = {each.id: each async for each in client.documents.every(library_id)}
        if self.slice.value.selected == library_id:
            self.slice.set(marked=change(self.slice.value.marked, listed))

    def upload(
        self, library_id: str, source: UploadSource, left: Entry | None = None
    ) -> Handle[Document]:
        """Upload a file into a library; the service then processes it.

        A source with a path as its name becomes a document with that name. `left` is the upload of
        an earlier start that this one continues.
        """
        task, needs = describe_upload(source, UPLOAD_DOCUMENT)
        return self._activity.run(
            "upload",
            source_name(source),
            lambda entry: self._upload(library_id, source, entry),
            left,
            task=task,
            needs={**needs, "library": library_id},
        )

    def add_file(
        self, library_id: str, file_id: str, left: Entry | None = None
    ) -> Handle[Document]:
        """Add a file of the service to a library; its bytes go through this machine.

        `left` is the same work of an earlier start, which this continues.
        """
        return self._activity.run(
            "upload",
            left.name if left else file_id,
            lambda entry: self._add_file(library_id, file_id, entry),
            left,
            subject=file_id,
            task=ADD,
            needs={"library": library_id, "file": file_id},
        )

    # A service answers known content with the existing document: nothing is duplicated.

    def _upload_left(self, left: Entry) -> Handle[Document]:
        return self.upload(left.needs["library"], Path(left.needs["path"]), left)

    def _add_left(self, left: Entry) -> Handle[Document]:
        return self.add_file(left.needs["library"], left.needs["file"], left)

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _upload(
        self, library_id: str, source: UploadSource, entry: ActivityEntry
    ) -> Document:
        from carrel.wire.documents import DocumentUpdate

        await entry.secure()

        async def send() -> Document:
            client = await self._session.client()
            entry.progress(0)
            return await client.documents.upload(
                library_id, expand_home(source), on_progress=entry.progress
            )

        document = await retry_while_lost(self._session, entry, send)
        client = await self._session.client()
        name = source_name(source)
        if "/" in name and document.name == name.rpartition("/")[2]:
            # A file of a folder; services keep only the last part of an upload's name.
            document = await client.documents.update(
                library_id, document.id, DocumentUpdate(name=name)
            )
        return await self._finish_upload(library_id, document, entry)

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _add_file(self, library_id: str, file_id: str, entry: ActivityEntry) -> Document:
        await entry.secure()

        async def send() -> Document:
            client = await self._session.client()
            file = await client.files.get(file_id)
            entry.rename(file.filename)
            if file.bytes is None:
                raise ProblemError(
                    "Not possible here", "The service does not report the file's size."
                )
            async with client.files.content(file_id) as content:
                return await client.documents.upload(
                    library_id, (file.filename, file.bytes, content), on_progress=entry.progress
                )

        document = await retry_while_lost(self._session, entry, send)
        return await self._finish_upload(library_id, document, entry)

    async def _finish_upload(
        self, library_id: str, document: Document, entry: ActivityEntry
    ) -> Document:
        entry.set_subject(document.id)
        # At once: a quick failure may be over before the list is reloaded.
        self._processing.show(document)
        self._poll()
        shown = self._load_libraries_again()
        if library_id == self.slice.value.selected:
            shown = self._load_documents_again(0)
        shown.add_done_callback(lambda _: self._notifications.notify(f"Added {document.name}."))
        return document

    def _forget_library(self, library_id: str) -> None:
        items = self.slice.value.items
        self.slice.set(items=tuple(item for item in items if item.id != library_id))
