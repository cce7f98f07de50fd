"""The Files panel."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from carrel.notebook.html.tables import moment
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
from carrel.notebook.panels.core.uploads import Offer
from carrel.store.batches.formatting import AS_A_BATCH
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.handle import Handle
from carrel.store.files.formatting import (
    FileRow,
    facets,
    file_rows,
    link_words,
    nothing_words,
    page_range,
    sort_words,
    title,
)
from carrel.store.files.service import FilesService
from carrel.store.previews import preview_lines
from carrel.store.sample import SampleService, SampleState
from carrel.store.session.formatting import service_words
from carrel.store.store import Store
from carrel.wire.files import File

_HEAD = ("Name", "Purpose", "Size", "Pages", "OCR", "Created")


class FilesPanel(Panel, view="files"):
    """The files of the service, a page at a time: upload, preview, OCR, link, save, delete."""

    _title = "Files"
    _deletes = "files"

    def __init__(self, store: Store, **options: Any) -> None:
        self._listing = store.files
        self._looked_into: str | None = None
        self._layout = TableLayout(store, "files")
        super().__init__(store, parts=(self._layout,), **options)
        self._follow(
            store.files.slice,
            store.activity.slice,
            store.previews.slice,
            store.sample.slice,
            self._layout.slice,
        )
        self._loading = store.files.load()
        self._watches.append(self._layout.keep_sorted(store.files))

    @property
    def selected(self) -> File | None:
        """The selected file."""
        state = self._store.files.slice.value
        return state.find(state.selected)

    @property
    def marked(self) -> tuple[File, ...]:
        """The marked files of all pages."""
        return tuple(self._store.files.slice.value.marked.values())

    def refresh(self) -> None:
        """Draw the current state; preview the selected file while a page shows the panel."""
        file = self.selected
        if self._views and file is not None and file.id != self._looked_into:
            self._looked_into = file.id
            self._store.previews.show(file)
        super().refresh()

    def _view(self) -> Json:
        state = self._store.files.slice.value
        activity = self._store.activity.slice.value
        session, now = self._store.session.slice.value, time.time()
        return {
            "layout": self._layout.view(),
            "title": title(state),
            "rows": [
                {"id": row.id, "cells": _cells(row), "marked": row.marked}
                for row in file_rows(state, activity, now)
            ],
            "selected": state.selected,
            "marked": sorted(state.marked),
            "range": " · ".join(filter(None, (page_range(state), sort_words(state)))),
            "page": state.page,
            "last_page": state.last_page,
            "search": state.search,
            "facets": [{**asdict(one), "values": [*one.values]} for one in facets(state)],
            "narrowed": state.narrowed,
            "loaded": state.loaded,
            "empty": self._empty(),
            "preview": self._preview(),
            "sample": _sample(self._store.sample.slice.value),
            "progress": progress_rows(activity, "upload", now),
            "loading": state.loading,
            "read_only": session.read_only,
            "service": service_words(session),
            "as_a_batch": [*AS_A_BATCH[1:]],
            "problem": problem_json(state.error),
        }

    def _empty(self) -> str:
        state = self._store.files.slice.value
        if not state.loaded:
            return "Loading the files …"
        if state.narrowed:
            return nothing_words(state)
        if self._store.session.slice.value.read_only:
            return "No files here. This profile is read-only, so none can be uploaded."
        return 'No files yet. Drop one here, or run bench.upload("report.pdf") or bench.sample().'

    def _preview(self) -> Json:
        state, file = self._store.previews.slice.value, self.selected
        if file is None or state.file_id != file.id:
            return {"of": None, "name": "", "kind": "none", "lines": [], "note": "", "pages": None}
        return {
            "of": file.id if state.path is not None else None,
            "name": file.filename,
            "kind": state.kind,
            "lines": [[*line] for line in preview_lines(state)],
            "note": "Loading …" if state.loading else str(state.error or state.note),
            "pages": state.page_count,
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        find = self._store.files.slice.value.find
        return _HEAD, [
            [*row["cells"][:-1], moment(file.created_at) if (file := find(row["id"])) else ""]
            for row in self.state["rows"]
        ]

    _on_page = forward("_store.files", FilesService.load_page, "page")
    _on_search = forward("_store.files", FilesService.search, "text")

    @intent
    async def _on_narrow(self, field: str, value: str | None) -> None:
        wanted: dict[str, Any] = {
            facet.field: facet.chosen for facet in facets(self._store.files.slice.value)
        }
        await self._store.files.narrow(**{**wanted, field: value})

    _on_select = forward("_store.files", FilesService.select, "id")
    _on_mark = forward("_store.files", FilesService.mark, "id")

    @intent
    async def _on_upload(self, files: list[Offer]) -> None:
        for offer in files:
            # What is there already is compared first, and read a second time if it differs.
            source = self._files.source(offer, keep=True)
            handle = self._store.files.upload(source, once=True)
            handle.add_done_callback(partial(self._forget_done, offer))

    def _forget_done(self, offer: Offer, handle: Handle[File]) -> None:
        if handle.outcome == "done":
            self._files.forget(offer)

    @intent
    async def _on_cancel(self, id: str) -> None:
        cancel(self._store.activity, "upload", id)

    @intent
    async def _on_read(self, ids: list[str], batch: bool) -> None:
        """Run OCR of files, separately or as one batch job; Activity shows the progress."""
        files = [file for file in map(self._store.files.slice.value.find, ids) if file is not None]
        sources = [DocumentSource("file", file.id, file.filename) for file in files]
        if batch:
            await self._store.batches.read(sources)
        else:
            self._store.ocr_batch.read(sources)

    @intent
    async def _on_open(self, id: str) -> None:
        file = self._store.files.slice.value.find(id)
        if file is not None:
            self._store.documents.open(DocumentSource("file", file.id, file.filename))

    @intent
    async def _on_picture(self, width: int) -> bytes | None:
        """Return the first page of the previewed file, for the asking view alone."""
        return await self._store.previews.picture(min(width, 2_000))

    @intent
    async def _on_link(self, id: str, hours: int) -> Json:
        """Return a signed address, for the asking view alone; never part of the state."""
        url = await self._store.files.signed_url(id, hours)
        return {"url": url, "words": link_words(url, hours, time.time())}

    @intent
    async def _on_libraries(self) -> list[Json]:
        """Return the libraries to which a file can be added."""
        libraries = self._store.libraries
        if not libraries.slice.value.loaded:
            await libraries.load()
        return [{"id": item.id, "name": item.name} for item in libraries.slice.value.items]

    @intent
    async def _on_add(self, ids: list[str], library: str) -> None:
        for id in ids:
            self._store.libraries.add_file(library, id)

    @intent
    async def _on_delete(self, ids: list[str]) -> None:
        await self._store.files.delete(ids)

    _on_sample = forward("_store.sample", SampleService.play)


def _cells(row: FileRow) -> list[Cell]:
    return [row.name, row.purpose, row.size, row.pages, badge_json(row.ocr), row.created]


def _sample(state: SampleState) -> Json:
    return {
        "running": state.running,
        "steps": [{"status": step.status, "words": step.words} for step in state.steps],
    }
