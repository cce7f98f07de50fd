"""The Files panel."""

import time
from collections.abc import Sequence
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.panel import Cell, Json, Panel, badge_json, finish, intent, problem_json
from carrel.notebook.progress import cancel, progress_rows
from carrel.notebook.uploads import Offer
from carrel.store.documents import Source
from carrel.store.selectors.files import FileRow, file_rows, shown
from carrel.store.store import Store
from carrel.wire.files import File

_HEAD = ("Name", "Purpose", "Size", "Pages", "OCR", "Created")


class FilesPanel(Panel):
    """The files of the service, a page at a time: upload, open, link, delete."""

    _esm = module("files")
    _css = style("files")
    _title = "Files"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **options)
        self._follow(store.files.slice, store.activity.slice)
        store.files.load()

    @property
    def selected(self) -> File | None:
        """The selected file."""
        state = self._store.files.slice.value
        return next((file for file in state.items if file.id == state.selected), None)

    def _view(self) -> Json:
        state = self._store.files.slice.value
        activity = self._store.activity.slice.value
        now = time.time()
        return {
            "rows": [
                {"id": row.id, "cells": _cells(row), "marked": row.marked}
                for row in file_rows(state, activity, now)
            ],
            "selected": state.selected,
            "range": shown(state),
            "page": state.page,
            "last_page": max(0, -(-(state.total or 0) // state.page_size) - 1),
            "search": state.search,
            "empty": self._empty(),
            "progress": progress_rows(activity, "upload", now),
            "loading": state.loading,
            "read_only": self._store.session.slice.value.read_only,
            "problem": problem_json(state.error),
        }

    def _empty(self) -> str:
        state = self._store.files.slice.value
        if not state.loaded:
            return "Loading the files …"
        if state.search:
            return f"No file has “{state.search}” in its name."
        return 'No files yet. Drop one here, or run bench.upload("report.pdf").'

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        return _HEAD, [row["cells"] for row in self.state["rows"]]

    @intent
    async def _on_page(self, page: int) -> None:
        await finish(self._store.files.load(page))

    @intent
    async def _on_search(self, text: str) -> None:
        await finish(self._store.files.search(text))

    @intent
    async def _on_select(self, id: str) -> None:
        await finish(self._store.files.select(id))

    @intent
    async def _on_mark(self, id: str) -> None:
        await finish(self._store.files.mark(id))

    @intent
    async def _on_upload(self, files: list[Offer]) -> None:
        for offer in files:
            self._store.files.upload(self._files.source(offer))

    @intent
    async def _on_cancel(self, id: str) -> None:
        cancel(self._store.activity, "upload", id)

    @intent
    async def _on_open(self, id: str) -> None:
        file = next(file for file in self._store.files.slice.value.items if file.id == id)
        self._store.documents.open(Source("file", file.id, file.filename))

    @intent
    async def _on_link(self, id: str) -> str | None:
        """A signed address; it goes to the asking view alone and is never part of the state."""
        return await finish(self._store.files.signed_url(id))

    @intent
    async def _on_delete(self, ids: list[str]) -> None:
        await finish(self._store.files.delete(ids))


def _cells(row: FileRow) -> list[Cell]:
    return [row.name, row.purpose, row.size, row.pages, badge_json(row.ocr), row.created]
