"""Folders in the Library panel: synced ones and dropped ones."""

import time
from collections.abc import Callable
from pathlib import Path

from carrel.notebook.panels.core.base import Json, badge_json, forward, intent
from carrel.notebook.panels.core.uploads import Offer
from carrel.store.activity.uploads import UploadSource
from carrel.store.core.actions.watch import watch
from carrel.store.core.problem import ProblemError
from carrel.store.libraries.service import LibrariesService
from carrel.store.store import Store
from carrel.store.sync.formatting import (
    confirm_words,
    folder_name,
    folder_rows,
    pattern_words,
    patterns_in,
    plan_rows,
    preview_words,
)
from carrel.store.sync.service import SyncService

SHOWN = 200
"""Most changes listed in a preview."""

DROPPED = 2_000
"""Most files in one drop through the page; a folder that the kernel reads has no limit."""


class Folders:
    """The folders of a library, as a part of its panel.

    A folder that the kernel can read is synced. A dropped folder is on the browser's machine:
    its files are uploaded once, named by their paths in it.
    """

    def __init__(
        self, store: Store, libraries: LibrariesService, source: Callable[[Offer], UploadSource]
    ) -> None:
        self._store = store
        self._libraries = libraries
        self._source = source
        store.sync.load()

    def reload_arrived(self) -> Callable[[], None]:
        """Reload a library of its own while a sync changes it; return a function to end this."""
        if self._libraries is self._store.libraries:
            return lambda: None
        slice, loop = self._store.sync.slice, self._store.loop
        return watch(slice, lambda _: self._reload_after_sync(), deliver=loop.call, hz=1)

    def rows(self) -> list[Json]:
        """Return the synced folders in the form that a view draws."""
        state = self._store.sync.slice.value
        selected = self._libraries.slice.value.selected
        return [
            {
                "id": row.id,
                # The state may be saved with the notebook, so it has no absolute paths.
                "name": row.name if row.name.startswith("~") else folder.path.name,
                "status": badge_json(row.status),
                "notes": list(row.notes),
                "percent": row.percent,
                "running": row.running,
            }
            for row, folder in zip(
                folder_rows(state, selected, time.time()), state.of(selected), strict=True
            )
        ]

    def _reload_after_sync(self) -> None:
        folders = self._store.sync.slice.value.of(self._libraries.slice.value.selected)
        if any(folder.running or folder.summary for folder in folders):
            self._libraries.load()

    @intent
    async def _on_folder(self, folder: int) -> Json:
        """Return the last sync options of a folder, for the form of the asking view alone."""
        try:
            synced = self._store.sync.find(folder)
        except KeyError:
            raise ProblemError("This folder is not synced any more") from None
        return {
            "path": str(synced.path),
            "delete": synced.settings.delete,
            "include": pattern_words(synced.settings.include),
            "exclude": pattern_words(synced.settings.exclude),
        }

    @intent
    async def _on_look(
        self, library: str, path: str, delete: bool, include: str, exclude: str
    ) -> Json:
        """Preview a folder's sync for the asking view alone."""
        preview = await self._store.sync.preview(
            library, _path(path), delete, patterns_in(include), patterns_in(exclude)
        )
        rows = plan_rows(preview)
        return {
            "words": f"{folder_name(_path(path))}: {preview_words(preview)}.",
            "rows": [
                {"action": row.action, "path": row.path, "note": row.note} for row in rows[:SHOWN]
            ],
            "more": max(0, len(rows) - SHOWN),
            "confirm": confirm_words(preview),
            "deletions": len(preview.plan.deletions),
        }

    @intent
    async def _on_sync(
        self,
        library: str,
        path: str,
        delete: bool,
        include: str,
        exclude: str,
        watch: bool,
        max_delete: int | None,
    ) -> None:
        only, never = patterns_in(include), patterns_in(exclude)
        self._store.sync.sync(library, _path(path), delete, only, never, watch, max_delete)

    _on_sync_again = forward("_store.sync", SyncService.repeat, "folder", waits=False)
    _on_sync_forget = forward("_store.sync", SyncService.forget, "folder")

    @intent
    async def _on_sync_stop(self, folder: int) -> None:
        self._store.sync.stop(folder)

    @intent
    async def _on_upload(self, library: str, files: list[Offer]) -> None:
        wanted = [offer for offer in files if offer.size]
        if len(wanted) > DROPPED:
            raise ProblemError(
                "Too many files to drop",
                f"These are {len(wanted):,}; up to {DROPPED:,} go through the page.",
                "Sync folder… takes any number, from where the kernel runs.",
            )
        if empty := len(files) - len(wanted):
            self._store.notifications.notify(
                f"Left out {empty:,} empty file{'' if empty == 1 else 's'}."
            )
        for offer in wanted:
            self._libraries.upload(library, self._source(offer))


def _path(text: str) -> Path:
    text = text.strip().strip("\"'")
    if not text:
        raise ProblemError("No folder named", advice="Type the path of a folder.")
    return Path(text)
