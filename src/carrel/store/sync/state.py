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
"""Seconds after which an unwatched folder is compared again."""


@dataclass(frozen=True, slots=True)
class FolderState:
    """A synced folder. `synced_at` and `compared_at`, when it was last compared with its library
    since the program began, are in seconds since 1970.

    `progress` is there while a sync looks or works, `preview` says what a sync would do that has
    not been asked for, and `summary` what the last one did. `reached` is how many of how many
    files a sync did that was cut off; `watched`: an earlier start watched it and nobody ended that.
    """

    id: int
    library_id: str
    path: Path
    settings: SyncSettings
    synced_at: float | None = None
    compared_at: float | None = None
    watching: bool = False
    progress: SyncProgress | None = None
    preview: Preview | None = None
    summary: Summary | None = None
    problem: Problem | None = None
    reached: tuple[int, int] | None = None
    watched: bool = False

    @property
    def running(self) -> bool:
        """Whether it is watched or being synced."""
        return self.watching or self.progress is not None

    def due(self, now: float) -> bool:
        """Return whether to compare it anew; what failed stays until it is synced again."""
        failed = self.problem is not None or (self.summary is not None and self.summary.failures)
        if self.compared_at is None:
            return not self.running
        return not (self.running or failed) and now - self.compared_at > COMPARED


@dataclass(frozen=True, slots=True)
class SyncState:
    """The folders synced with the service's libraries. `looking`: how far a preview is."""

    folders: tuple[FolderState, ...] = ()
    looking: SyncProgress | None = None
    error: Problem | None = None

    @property
    def unfinished(self) -> tuple[FolderState, ...]:
        """The folders whose sync was cut off by the end of a process, or that were watched."""
        return tuple(
            each for each in self.folders if (each.reached or each.watched) and not each.running
        )

    def of(self, library_id: str | None) -> tuple[FolderState, ...]:
        """Return the folders of one library."""
        return tuple(each for each in self.folders if each.library_id == library_id)
