"""The Activity panel."""

import time
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.columns import TablePanel
from carrel.notebook.panel import Cell, Json, badge_json, finish, intent
from carrel.store.activity.words import ActivityRow, activity_rows
from carrel.store.batches.words import job_id
from carrel.store.core.handle import Handle
from carrel.store.store import Store

_HEAD = ("What", "Name", "Status", "Progress", "Rate", "Time", "Note")


class ActivityPanel(TablePanel):
    """Long-running work: uploads, downloads, syncs, OCR, processing."""

    _esm = module("activity")
    _css = style("activity")
    _title = "Activity"
    _table_name = "activity"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **options)
        self._follow(store.activity.slice)

    def _view(self) -> Json:
        sort = self._store.layout.slice.value.table(self._table_name).sort
        rows = activity_rows(self._store.activity.slice.value, time.time(), sort)
        return {
            "rows": [
                {
                    "id": row.id,
                    "cells": _cells(row),
                    "running": row.running,
                    "retryable": row.retryable,
                    "saves": bool(row.facts) and not row.running,
                }
                for row in rows
            ],
            "empty": "Nothing is under way. Uploads, reading and processing show here.",
            "problem": None,
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        # Rates and times go stale; folders and failures may name paths and addresses.
        rows = [row["cells"][:4] for row in self.state["rows"]]
        return _HEAD[:4], [[kind, _last(name), *rest] for kind, name, *rest in rows]

    @intent
    async def _on_cancel(self, id: str) -> None:
        self._store.activity.cancel(id)

    @intent
    async def _on_retry(self, id: str) -> None:
        self._store.activity.retry(id)

    @intent
    async def _on_save(self, id: str) -> None:
        """Saves the answers of a batch job in the folder of the notebook."""
        if job := job_id(id):
            await finish(self._store.batches.save(job, Path.cwd()))

    def _loads(self) -> Sequence[Handle[Any]]:
        return (self._store.batches.load(),)

    @intent
    async def _on_dismiss(self, id: str) -> None:
        self._store.activity.dismiss(id)

    @intent
    async def _on_dismiss_all(self) -> None:
        self._store.activity.dismiss_all()


def _last(name: Cell) -> Cell:
    path = PurePath(str(name))
    return path.name if path.is_absolute() else name


def _cells(row: ActivityRow) -> list[Cell]:
    last = row.left or row.when
    note = row.error or " · ".join(f"{name}: {words}" for name, words in row.facts)
    return [row.kind, row.name, badge_json(row.status), row.progress, row.rate, last, note]
