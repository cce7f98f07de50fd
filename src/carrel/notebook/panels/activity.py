"""The Activity panel."""

import time
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from carrel.notebook.panels.core.base import Cell, Json, Panel, badge_json, forward, intent
from carrel.notebook.panels.core.table import TableLayout
from carrel.store.activity.formatting import ActivityRow, activity_rows, running_words
from carrel.store.activity.service import ActivityService
from carrel.store.batches.formatting import job_id
from carrel.store.core.actions.handle import Handle
from carrel.store.store import Store

_HEAD = ("What", "Name", "Status", "Progress", "Rate", "Time", "Note")


class ActivityPanel(Panel, view="activity"):
    """Long-running work: uploads, downloads, syncs, OCR, processing."""

    _title = "Activity"

    def __init__(self, store: Store, **options: Any) -> None:
        self._layout = TableLayout(store, "activity")
        super().__init__(store, parts=(self._layout,), **options)
        self._follow(store.activity.slice, self._layout.slice)

    def _view(self) -> Json:
        state = self._store.activity.slice.value
        rows = activity_rows(state, time.time(), self._layout.sort)
        return {
            "layout": self._layout.view(),
            "rows": [
                {
                    "id": row.id,
                    "cells": _cells(row),
                    "running": row.running,
                    "interrupted": row.interrupted,
                    "marked": row.id in state.marked,
                    "retryable": row.retryable,
                    "saves": bool(row.facts) and not row.running,
                }
                for row in rows
            ],
            "counted": running_words(state),
            "empty": "Nothing is under way. Uploads, reading and processing show here.",
            "problem": None,
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        # Rates and times become stale; folders and failures may contain paths and addresses.
        rows = [row["cells"][:4] for row in self.state["rows"]]
        return _HEAD[:4], [[kind, _file_name(name), *rest] for kind, name, *rest in rows]

    @intent
    async def _on_cancel(self, ids: list[str]) -> None:
        self._store.activity.cancel(*ids)

    @intent
    async def _on_retry(self, ids: list[str]) -> None:
        self._store.activity.retry(*ids)

    @intent
    async def _on_save(self, id: str) -> None:
        """Save the answers of a batch job in the notebook's folder."""
        if job := job_id(id):
            await self._store.batches.save(job, Path.cwd())

    def _loads(self) -> Sequence[Handle[Any]]:
        return (self._store.batches.load(),)

    _on_mark = forward("_store.activity", ActivityService.mark, "id")
    _on_mark_all = forward("_store.activity", ActivityService.mark_all)

    @intent
    async def _on_dismiss(self, ids: list[str]) -> None:
        self._store.activity.dismiss(*ids)

    @intent
    async def _on_dismiss_all(self) -> None:
        self._store.activity.dismiss_all()


def _file_name(name: Cell) -> Cell:
    path = PurePath(str(name))
    return path.name if path.is_absolute() else name


def _cells(row: ActivityRow) -> list[Cell]:
    last = row.left or row.when
    note = row.error or " · ".join(f"{name}: {words}" for name, words in row.facts)
    return [row.kind, row.name, badge_json(row.status), row.progress, row.rate, last, note]
