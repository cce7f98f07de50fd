"""The Library panel."""

import time
from collections.abc import Sequence
from html import escape
from typing import Any

from carrel.notebook.html.tables import moment, table
from carrel.notebook.panels.core.base import (
    Cell,
    Json,
    Panel,
    badge_json,
    forward,
    intent,
    problem_json,
)
from carrel.notebook.panels.core.progress import cancel, progress_rows
from carrel.notebook.panels.core.table import TableLayout
from carrel.notebook.panels.folders import Folders
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.problem import ProblemError
from carrel.store.libraries import formatting
from carrel.store.libraries.formatting import LibraryRow
from carrel.store.libraries.service import LibrariesService
from carrel.store.session.formatting import service_words
from carrel.store.store import Store
from carrel.wire.documents import Document

TEXT_SHOWN = 20_000
"""Most characters shown of a document's text."""

_HEAD = ("Document", "Status", "Pages", "Added", "Summary")


class LibraryPanel(Panel, view="library"):
    """A library's documents with live status, upload, synced folders and search.

    With its own service it shows only that service's library, without the list.
    """

    _title = "Libraries"
    _deletes = "libraries"

    def __init__(
        self, store: Store, libraries: LibrariesService | None = None, **options: Any
    ) -> None:
        self._single = libraries is not None
        self._libraries = self._listing = libraries or store.libraries
        self._layout = TableLayout(store, "documents")
        self._folders = Folders(store, self._libraries, lambda offer: self._files.source(offer))
        parts = (self._layout, self._folders)
        super().__init__(store, parts=parts, own=libraries, **options)
        self._follow(
            self._libraries.slice, store.activity.slice, store.sync.slice, self._layout.slice
        )
        self._watches.append(self._folders.reload_arrived())
        if not self._libraries.slice.value.loaded:
            self._loading = self._libraries.load()
        self._watches.append(self._layout.keep_sorted(self._libraries))

    @property
    def selected(self) -> Document | None:
        """The selected document."""
        state = self._libraries.slice.value
        return state.find(state.document)

    def _view(self) -> Json:
        state = self._libraries.slice.value
        session, now = self._store.session.slice.value, time.time()
        return {
            "layout": self._layout.view(),
            "single": self._single,
            "libraries": [
                {
                    "id": row.id,
                    "name": row.name,
                    "note": _note(row, synced=bool(self._store.sync.slice.value.of(row.id))),
                }
                for row in formatting.library_rows(state)
            ],
            "selected": state.selected,
            "title": formatting.title(state),
            "rows": [
                {
                    "id": row.id,
                    "cells": [row.name, badge_json(row.status), row.pages, row.added, row.summary],
                }
                for row in formatting.document_rows(state, now)
            ],
            "document": state.document,
            "details": self._details(now),
            "range": formatting.page_range(state),
            "page": state.page,
            "last_page": state.last_page,
            "empty": self._empty(),
            "query": state.query,
            "hits": [
                {
                    "id": row.number,
                    "where": f"{row.name} · page {row.page}" if row.page else row.name,
                    "passage": row.passage,
                }
                for row in formatting.hit_rows(state)
            ],
            "searching": state.searching,
            "folders": self._folders.rows(),
            "progress": progress_rows(self._store.activity.slice.value, "upload", now),
            "loading": state.loading,
            "read_only": session.read_only,
            "service": service_words(session),
            "problem": problem_json(state.search_error or state.error),
        }

    def _empty(self) -> str:
        state = self._libraries.slice.value
        if not state.loaded:
            return "Loading the libraries …"
        if state.selected is None:
            return 'No libraries yet. Name one here, or run bench.create_library("contracts").'
        return 'No documents yet. Drop one here, or run bench.add(library, "report.pdf").'

    def _details(self, now: float) -> Json:
        """Return the details of the selected document."""
        document, text = self.selected, self._libraries.slice.value.text
        if document is None:
            return {"name": "", "status": None, "facts": [], "summary": "", "text": None}
        return {
            "name": document.name,
            "status": badge_json(formatting.document_status(document)),
            "facts": [[*fact] for fact in formatting.document_facts(document, now)],
            "summary": document.error or formatting.plain(document.summary or ""),
            "text": None if text is None else text[:TEXT_SHOWN],
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        documents = self._libraries.slice.value.documents
        rows = []
        for row, document in zip(self.state["rows"], documents, strict=False):
            name, status, pages, _, summary = row["cells"]
            rows.append([name, status, pages, moment(document.created_at), summary])
        return _HEAD, rows

    async def draw_still(self) -> str:
        """Return the libraries by name, and the selected one's documents and hits."""
        state = self.state
        names = ", ".join(one["name"] for one in state["libraries"])
        parts = [] if self._single or not names else [f"<p>Libraries: {escape(names)}</p>"]
        parts.append(table(state["title"] or self._title, *self._table()))
        if state["query"]:
            hits = [(hit["where"], hit["passage"]) for hit in state["hits"]]
            parts.append(table(f"Search: {state['query']}", ("Where", "Passage"), hits))
        return "".join(parts)

    _on_choose = forward("_libraries", LibrariesService.select, "library")
    _on_select = forward("_libraries", LibrariesService.select_document, "document")
    _on_search = forward("_libraries", LibrariesService.search, "text")

    @intent
    async def _on_create(self, name: str) -> None:
        await self._libraries.create(name)

    @intent
    async def _on_cancel(self, id: str) -> None:
        cancel(self._store.activity, "upload", id)

    _on_page = forward("_libraries", LibrariesService.load_documents, "page")

    @intent
    async def _on_open(self, document: str) -> None:
        known = self._libraries.slice.value.find(document)
        name = known.name if known is not None else ""
        self._store.documents.open(DocumentSource("document", document, name, self._chosen_id()))

    @intent
    async def _on_open_hit(self, number: int) -> None:
        """Open the document of a search hit at the hit."""
        hit = self._libraries.slice.value.hits[number - 1]
        source = DocumentSource("document", hit.document_id, hit.document_name, self._chosen_id())
        self._store.documents.open(source, hit.page or 0, hit.box)

    _on_text = forward("_libraries", LibrariesService.show_text, "library", "document")

    def _chosen_id(self) -> str:
        library = self._libraries.slice.value.selected
        if library is None:
            raise ProblemError("No library selected", advice="Choose one in the list.")
        return library

    @intent
    async def _on_rename(self, name: str, library: str, document: str | None) -> None:
        """Rename a document, or the library if no document is given."""
        if document is None:
            await self._libraries.rename(library, name)
        else:
            await self._libraries.update_document(library, document, name=name)

    _on_reprocess = forward("_libraries", LibrariesService.reprocess, "library", "document")

    @intent
    async def _on_delete(self, library: str, document: str) -> None:
        await self._libraries.delete_documents(library, [document])

    @intent
    async def _on_delete_library(self, library: str) -> None:
        await self._libraries.delete([library])


def _note(row: LibraryRow, *, synced: bool) -> str:
    parts = ("◐" if row.busy else "", row.documents, "⟳" if synced else "")
    return " ".join(part for part in parts if part)
