"""The Library panel."""

import time
from collections.abc import Sequence
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.folders import FolderPanel
from carrel.notebook.panel import Cell, Json, badge_json, finish, intent, problem_json
from carrel.notebook.progress import cancel, progress_rows
from carrel.store.documents import Source
from carrel.store.libraries import LibrariesService
from carrel.store.selectors.libraries import (
    DocumentRow,
    document_rows,
    hit_rows,
    library_rows,
    title,
)
from carrel.store.store import Store
from carrel.wire.documents import Document

_HEAD = ("Document", "Status", "Pages", "Added", "Summary")


class LibraryPanel(FolderPanel):
    """A library's documents with their live status, upload, synced folders and search.

    With a service of its own it shows that service's one library, without the list.
    """

    _esm = module("library")
    _css = style("library")
    _title = "Libraries"

    def __init__(
        self, store: Store, libraries: LibrariesService | None = None, **options: Any
    ) -> None:
        self._single = libraries is not None
        super().__init__(store, libraries or store.libraries, **options)
        self._follow(self._libraries.slice, store.activity.slice)
        if not self._libraries.slice.value.loaded:
            self._libraries.load()

    @property
    def selected(self) -> Document | None:
        """The selected document."""
        state = self._libraries.slice.value
        return next((one for one in state.documents if one.id == state.document), None)

    def _view(self) -> Json:
        state = self._libraries.slice.value
        now = time.time()
        return {
            "single": self._single,
            "libraries": [
                {
                    "id": row.id,
                    "name": row.name,
                    "note": f"◐ {row.documents}" if row.busy else row.documents,
                }
                for row in library_rows(state)
            ],
            "selected": state.selected,
            "title": title(state),
            "rows": [
                {
                    "id": row.id,
                    "cells": [row.name, badge_json(row.status), row.pages, row.added, row.summary],
                }
                for row in document_rows(state, now)
            ],
            "document": state.document,
            "empty": self._empty(),
            "query": state.query,
            "hits": [
                {
                    "id": row.number,
                    "document": row.document_id,
                    "page": hit.page,
                    "where": " ".join(part for part in (row.name, row.page) if part),
                    "passage": row.passage,
                }
                for row, hit in zip(hit_rows(state), state.hits, strict=True)
            ],
            "searching": state.searching,
            "folders": self._folders(),
            "progress": progress_rows(self._store.activity.slice.value, "upload", now),
            "loading": state.loading,
            "read_only": self._store.session.slice.value.read_only,
            "problem": problem_json(state.error),
        }

    def _empty(self) -> str:
        state = self._libraries.slice.value
        if not state.loaded:
            return "Loading the libraries …"
        if state.selected is None:
            return (
                'No libraries yet. Name one at the left, or run bench.create_library("contracts").'
            )
        return 'No documents yet. Drop one here, or run bench.add(library, "report.pdf").'

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        return _HEAD, [row["cells"] for row in self.state["rows"]]

    @intent
    async def _on_choose(self, library: str) -> None:
        await finish(self._libraries.select(library))

    @intent
    async def _on_create(self, name: str) -> None:
        await finish(self._libraries.create(name))

    @intent
    async def _on_select(self, document: str) -> None:
        await finish(self._libraries.select_document(document))

    @intent
    async def _on_search(self, text: str) -> None:
        await finish(self._libraries.search(text))

    @intent
    async def _on_cancel(self, id: str) -> None:
        cancel(self._store.activity, "upload", id)

    @intent
    async def _on_open(self, document: str, page: int | None) -> None:
        state = self._libraries.slice.value
        names = {hit.document_id: hit.document_name for hit in state.hits}
        names |= {one.id: one.name for one in state.documents}
        source = Source("document", document, names.get(document, ""), self._chosen())
        places = (hit.box for hit in state.hits if (hit.document_id, hit.page) == (document, page))
        self._store.documents.open(source, page or 0, next(places, None))

    @intent
    async def _on_reprocess(self, document: str) -> None:
        await finish(self._libraries.reprocess(document))

    @intent
    async def _on_delete(self, document: str) -> None:
        await finish(self._libraries.delete_documents([document]))


def _cells(row: DocumentRow) -> list[Cell]:
    return [row.name, badge_json(row.status), row.pages, row.added, row.summary]
