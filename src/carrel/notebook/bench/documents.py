"""Calls of the bench for files, documents and libraries."""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from carrel.notebook.bench.deleting import DeletedItem, Item, delete, find_item
from carrel.notebook.bench.inputs import (
    Attached,
    Input,
    Inputs,
    Outcomes,
    as_outcomes,
    inputs,
    is_several,
)
from carrel.notebook.bench.names import Names
from carrel.notebook.bench.reading import Reading, as_reading
from carrel.notebook.bench.waits import read
from carrel.notebook.cells.errors import bench_errors
from carrel.notebook.cells.wait import run, wait_for
from carrel.notebook.panels.document import DocumentPanel
from carrel.notebook.results.search import SearchHits, as_hits
from carrel.notebook.results.sync import Synced
from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.conversation import Attachment
from carrel.store.documents.reader import OCROptions
from carrel.store.documents.service import LARGE
from carrel.store.files.incoming import Incoming, as_source, is_path
from carrel.store.libraries.phase import check_processed
from carrel.store.store import Store
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.libraries import Library

T = TypeVar("T")


class DocumentCalls:
    """Uploads, reads, adds, syncs, searches and deletes documents; each call waits for its result.

    `keep` takes a panel of a reading, which is closed with the bench.
    """

    def __init__(
        self, store: Store, names: Names, keep: Callable[[DocumentPanel], DocumentPanel]
    ) -> None:
        self._store = store
        self._names = names
        self._keep = keep
        self._incoming = Incoming(store.session, store.files)

    def upload(
        self, document: Inputs, *, title: str | None = None, timeout: float | None = None
    ) -> Any:
        """Upload a document and return its File.

        Bytes that were uploaded under the same name are not uploaded again.

        Args:
            document: a path, an `https://` address that the kernel reaches, bytes, a file opened
                with "rb", or a picture of Pillow; a list of them or a pattern such as `*.pdf`
                gives a list of those that worked; a warning says which failed.
            title: the file's name, by default from the path or the address.
            timeout: seconds before the call is stopped.
        """
        given = as_outcomes(inputs("bench.upload", document, title))
        files = self._begin_all(given, self._file, timeout)
        return files.give(several=is_several(document))

    def ocr(
        self,
        document: Inputs,
        *,
        pages: str | int | Sequence[int] = "",
        schema: str | Mapping[str, Any] | type[BaseModel] | None = None,
        images: bool = False,
        tables: Literal["text", "markdown", "html"] = "text",
        title: str | None = None,
        max_pages: int = LARGE,
        timeout: float | None = None,
    ) -> Any:
        """Read a document with OCR and return its Reading.

        Pages already read with these options are not read again. A hosted service bills pages: more
        than `max_pages` unread pages raise an error with their number.

        Args:
            document: a path, an `https://` address, bytes, a file opened with "rb", a picture of
                Pillow, or a file of the service or its id; a list of them or a pattern such as
                `*.pdf` gives a list of those that worked; a warning says which failed.
            pages: the pages to read, from 1: `"1-3, 7"`, a number or a list; by default all.
            schema: a JSON schema, or a pydantic model, in which `Reading.annotation` describes
                the document.
            images: includes the pictures of the pages.
            tables: `text` leaves tables in the text; the others take them out as Markdown or HTML.
            title: an uploaded document's name, by default from the path or the address.
            max_pages: the most unread pages of a document at a hosted service.
            timeout: seconds after which the reading of a document is stopped.
        """
        options = OCROptions(
            pages=_page_words(pages), schema=_schema_words(schema), pictures=images, tables=tables
        )
        given = as_outcomes(inputs("bench.ocr", document, title))
        readings = self._begin_all(given, self._file, timeout).then(
            self._store, lambda file: self._read(file, options, max_pages, timeout)
        )
        return readings.give(several=is_several(document))

    def _begin_all(
        self,
        given: Outcomes[Input],
        work: Callable[[Input], Coroutine[Any, Any, T]],
        timeout: float | None,
    ) -> Outcomes[T]:
        """Begin all at once, so that the journal knows of all, and wait for each."""
        begun = given.then(self._store, lambda one: self._store.loop.run(work(one)))
        try:
            return begun.then(self._store, lambda handle: wait_for(self._store, handle, timeout))
        except BaseException:
            for handle in begun.results:
                handle.cancel()
            raise

    async def _file(self, given: Input) -> File:
        """Return the service's file of a document, uploaded if it is missing."""
        if isinstance(given.content, File):
            return given.content
        return await self._incoming.file(given.content, given.title)

    def _read(
        self, file: File, options: OCROptions, max_pages: int, timeout: float | None
    ) -> Reading:
        store = self._store
        service = store.another_document()
        source = DocumentSource("file", file.id, file.filename)
        found = run(store, read(store, service, source, options, max_pages), timeout)
        return as_reading(
            store, service, found, lambda **size: self._keep(DocumentPanel(store, service, **size))
        )

    def attach(self, given: Attached, timeout: float | None) -> list[Attachment]:
        """Upload the files of a question and return its attachments."""
        found: list[Attachment] = []
        listed: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
        for one in listed:
            if isinstance(one, Document):
                found.append(Attachment("document", one.id, one.name, one.library_id))
                continue
            named = inputs("bench.ask", one)
            files = [run(self._store, self._file(each), timeout) for each in named]
            found += [Attachment("file", file.id, file.filename) for file in files]
        return found

    def create_library(self, name: str, description: str | None = None) -> Library:
        """Create a library. An existing library of this name stays, and a warning gives both ids.

        `bench.add(…, create=True)` and `bench.library(…, create=True)` create one only if the name
        is new.
        """
        made = wait_for(self._store, self._store.libraries.create(name, description))
        self._names.warn_of_twins("library", made)
        return made

    def add(
        self,
        library: str | Library,
        document: Inputs,
        *,
        title: str | None = None,
        create: bool = False,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Any:
        """Add a document to a library, wait until it is searchable, and return its Document.

        Args:
            library: its name or id.
            document: a path, an `https://` address, bytes, a file opened with "rb", a picture of
                Pillow, or a file of the service or its id; a list of them or a pattern such as
                `*.pdf` gives a list of those that worked; a warning says which failed.
            title: the document's name, by default from the path or the address.
            create: creates a library of this name if there is none.
            wait: waits until the document is processed.
            timeout: seconds after which a step of a document is stopped.
        """
        given, store = as_outcomes(inputs("bench.add", document, title)), self._store
        library_id = self._names.library(library, create=create).id
        added = self._begin_all(given, lambda one: self._add(library_id, one), timeout)
        if wait:
            added = added.then(store, lambda one: self.wait_ready(one, timeout=timeout))
        return added.give(several=is_several(document))

    async def _add(self, library_id: str, given: Input) -> Document:
        libraries, content = self._store.libraries, given.content
        if isinstance(content, bytes):
            source = as_source(content, given.title or "document")
            return await libraries.upload(library_id, source).linked()
        path = isinstance(content, Path) or (isinstance(content, str) and is_path(content))
        if path and given.title is None:
            return await libraries.upload(library_id, Path(str(content))).linked()
        file = await self._file(given)
        return await libraries.add_file(library_id, file.id).linked()

    def delete(
        self,
        item: str | Item,
        *,
        library: str | Library | None = None,
        timeout: float | None = None,
    ) -> DeletedItem:
        """Delete a file, a library, an agent or a document; the result's `.undo()` restores it.

        Args:
            item: the item, or its name or id.
            library: the library of a document that is given by name.
            timeout: seconds before the call is stopped.
        """
        if isinstance(item, str):
            item = find_item(self._store, self._names, item, library)
        return delete(self._store, item, timeout)

    def sync(
        self,
        library: str | Library,
        folder: str | Path,
        *,
        delete: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_delete: int | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Synced:
        """Sync a folder that the kernel can read to a library.

        Waits until every document of the library is processed; the library shows failed ones.
        `delete` deletes the documents of deleted files. `include` and `exclude` are patterns as in
        `.gitignore`. More than `max_delete` deletions, by default half of the documents from the
        folder, raise an error before any change.
        """
        library_id, path = self._names.library(library).id, Path(folder).expanduser().resolve()
        sync = self._store.sync
        handle = sync.sync(library_id, path, delete, include, exclude, max_delete=max_delete)
        wait_for(self._store, handle, timeout)
        if wait:
            wait_for(self._store, self._store.libraries.wait_all_processed(library_id), timeout)
        (state,) = (each for each in sync.slice.value.of(library_id) if each.path == path)
        assert state.summary is not None, "it has ended"
        return Synced(path, state.summary)

    def search(
        self,
        query: str,
        libraries: str | Library | Sequence[str | Library] | None = None,
        *,
        limit: int = 10,
        timeout: float | None = None,
    ) -> SearchHits:
        """Search libraries for passages, by default all libraries and the chats of this machine.

        Matched words are enclosed in « and ».

        Args:
            query: the words to find.
            libraries: the name or id of a library, or several.
            limit: the most passages of each library, and of the chats.
            timeout: seconds before the call is stopped.
        """
        several: Sequence[str | Library] | None = (
            [libraries] if isinstance(libraries, str | Library) else libraries
        )
        ids = None if several is None else tuple(self._names.library(one).id for one in several)
        state = wait_for(self._store, self._store.search.search(query, limit, ids), timeout)
        return as_hits(self._store, state)

    def wait_ready(self, document: Document, *, timeout: float | None = None) -> Document:
        """Wait until a library's document is processed and return it."""
        ready = wait_for(self._store, self._store.libraries.wait_processed(document), timeout)
        with bench_errors():
            check_processed(ready)
        return ready


def _page_words(pages: str | int | Sequence[int]) -> str:
    return str(pages) if isinstance(pages, str | int) else ", ".join(map(str, pages))


def _schema_words(schema: str | Mapping[str, Any] | type[BaseModel] | None) -> str:
    if schema is None or isinstance(schema, str):
        return schema or ""
    return json.dumps(dict(schema) if isinstance(schema, Mapping) else schema.model_json_schema())
