"""The calls of a bench about files, documents and libraries."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from carrel.notebook.bench.base import BenchBase
from carrel.notebook.bench.reading import Reading, as_reading
from carrel.notebook.bench.waits import read
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import checked, done
from carrel.notebook.panels.document import DocumentPanel
from carrel.notebook.results.search import SearchHits
from carrel.notebook.results.sync import Synced
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.problem import Problem
from carrel.store.documents.reader import OCROptions
from carrel.store.documents.service import LARGE
from carrel.store.files.incoming import Incoming
from carrel.store.libraries.phase import document_phase
from carrel.store.search.state import SearchedPlaces
from carrel.store.store import Store
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.libraries import Library


class DocumentCalls(BenchBase):
    """Uploads, reads, adds and syncs; each call waits for its result."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._incoming = Incoming(store.session, store.files)

    @checked
    def upload(
        self,
        document: str | Path | bytes,
        *,
        title: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Upload a document. The same bytes of the same name are not uploaded twice.

        Args:
            document: a path, an `https://` address that the kernel reaches, or bytes.
            title: the name of the file, by default that of the path or the address.
            timeout: seconds after which it is stopped.
        """
        return self._run(self._incoming.file(document, title), timeout)

    @checked
    def ocr(
        self,
        document: str | Path | bytes | File,
        *,
        pages: str | int | Sequence[int] = "",
        schema: str | Mapping[str, Any] | type[BaseModel] | None = None,
        images: bool = False,
        tables: Literal["text", "markdown", "html"] = "text",
        title: str | None = None,
        max_pages: int = LARGE,
        timeout: float | None = None,
    ) -> Reading:
        """Read a document; pages that were read before with these options are not read again.

        A hosted service bills pages: more than `max_pages` unread pages raise an error that
        gives their number.

        Args:
            document: a path, an `https://` address, bytes, or a file of the service or its id.
            pages: the pages to read, from 1: `"1-3, 7"`, a number or a list; by default all.
            schema: a JSON schema, or a pydantic model, in which `Reading.annotation` describes
                the document.
            images: brings the pictures of the pages along.
            tables: `text` leaves tables in the text; the others take them out as Markdown or HTML.
            title: the name of an uploaded document, by default that of the path or the address.
            max_pages: the most unread pages at a hosted service.
            timeout: seconds after which it is stopped.
        """
        store = self._store
        options = OCROptions(
            pages=_page_words(pages), schema=_schema_words(schema), pictures=images, tables=tables
        )
        file = document
        if not isinstance(file, File):
            file = self._run(self._incoming.file(file, title), timeout)
        service = store.another_document()
        source = DocumentSource("file", file.id, file.filename)
        found = self._run(read(store, service, source, options, max_pages), timeout)
        return as_reading(
            store, service, found, lambda **size: self._kept(DocumentPanel(store, service, **size))
        )

    @checked
    def create_library(self, name: str, description: str | None = None) -> Library:
        """Create a library."""
        return done(self._store, self._store.libraries.create(name, description))

    @checked
    def add(
        self,
        library: str | Library,
        document: str | Path | File,
        *,
        wait: bool = True,
        timeout: float | None = None,
    ) -> Document:
        """Add a path or a file to a library and waits until it is searchable."""
        libraries, library_id = self._store.libraries, self._names.library(library).id
        added = done(
            self._store,
            libraries.add_file(library_id, document.id)
            if isinstance(document, File)
            else libraries.upload(library_id, Path(document)),
            timeout,
        )
        return self.wait_ready(added, timeout=timeout) if wait else added

    @checked
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
        """Brings a library in step with a folder that the kernel can read.

        Waits until every document of the library is processed; the library shows those that
        failed. `delete` deletes the documents of deleted files. `include` and `exclude` are
        patterns as in `.gitignore`. More than `max_delete` deletions, by default half of the
        documents that the folder brought, raise an error before any change.
        """
        library_id, path = self._names.library(library).id, Path(folder).expanduser().resolve()
        sync = self._store.sync
        handle = sync.sync(library_id, path, delete, include, exclude, max_delete=max_delete)
        done(self._store, handle, timeout)
        if wait:
            done(self._store, self._store.libraries.wait_all_processed(library_id), timeout)
        (state,) = (each for each in sync.slice.value.of(library_id) if each.path == path)
        assert state.summary is not None, "it has ended"
        return Synced(path, state.summary)

    @checked
    def search(self, query: str, limit: int = 10, *, timeout: float | None = None) -> SearchHits:
        """Search every library, and the chats of this machine, for passages.

        Returns at most `limit` passages of each library and of the chats, best first. Matched
        words stand between « and ».
        """
        state = done(self._store, self._store.search.search(query, limit), timeout)
        return SearchHits(state.query, state.found, state.places or SearchedPlaces())

    @checked
    def wait_ready(self, document: Document, *, timeout: float | None = None) -> Document:
        """Wait until a library's document is processed and return it."""
        ready = done(self._store, self._store.libraries.wait_processed(document), timeout)
        if document_phase(ready) == "failed":
            reason = ready.error or "The service gives no reason."
            raise BenchError(Problem(f"{ready.name} was not processed", reason))
        return ready


def _page_words(pages: str | int | Sequence[int]) -> str:
    return pages if isinstance(pages, str) else ", ".join(map(str, _listed(pages)))


def _listed(pages: int | Sequence[int]) -> Sequence[int]:
    return [pages] if isinstance(pages, int) else pages


def _schema_words(schema: str | Mapping[str, Any] | type[BaseModel] | None) -> str:
    if schema is None or isinstance(schema, str):
        return schema or ""
    return json.dumps(dict(schema) if isinstance(schema, Mapping) else schema.model_json_schema())
