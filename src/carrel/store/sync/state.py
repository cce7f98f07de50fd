"""The state of synced folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.sync.ledger import SyncSettings
    from carrel.sync.progress import Preview as Preview
    from carrel.sync.progress import Summary as Summary
    from carrel.sync.progress import SyncProgress


COMPARED = 30.0
"""Age in seconds from which an unwatched folder's comparison is stale."""


@dataclass(frozen=True, slots=True)
class FolderState:
    """A synced folder: the fields of a `SyncedFolder`, then those of this process.

    `synced_at` and `compared_at` are in seconds since 1970. `progress` is that of a running sync or
    look, `preview` the actions of a sync that was not started, `summary` the result of the last
    one. `reached` has the done and total files of an interrupted sync; `watched` marks a watch of
    an earlier process that nobody stopped.
    """

    id: int
    library_id: str
    path: Path
    settings: SyncSettings
    synced_at: float | None = None
    reached: tuple[int, int] | None = None
    watched: bool = False
    compared_at: float | None = None
    watching: bool = False
    progress: SyncProgress | None = None
    preview: Preview | None = None
    summary: Summary | None = None
    problem: Problem | None = None

    @property
    def running(self) -> bool:
        """Whether the folder is being watched or synced."""
        return self.watching or self.progress is not None

    def is_due(self, now: float) -> bool:
        """Return whether to compare the folder again; a failed one waits for its next sync."""
        failed = self.problem is not None or (self.summary is not None and self.summary.failures)
        if self.compared_at is None:
            return not self.running
        return not (self.running or failed) and now - self.compared_at > COMPARED


@dataclass(frozen=True, slots=True)
class SyncState:
    """The folders synced with the service's libraries. `looking` is the progress of a preview."""

    folders: tuple[FolderState, ...] = ()
    looking: SyncProgress | None = None
    error: Problem | None = None

    @property
    def unfinished(self) -> tuple[FolderState, ...]:
        """The folders whose sync or watch ended with its process."""
        return tuple(
            each for each in self.folders if (each.reached or each.watched) and not each.running
        )

    def of(self, library_id: str | None) -> tuple[FolderState, ...]:
        """Return the folders of one library."""
        return tuple(each for each in self.folders if each.library_id == library_id)
