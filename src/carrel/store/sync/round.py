"""Progress of one folder's syncs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from carrel.store.activity.service import ActivityService
from carrel.store.activity.state import ActivityItem, ActivityStatus
from carrel.store.core.formatting import counted
from carrel.store.core.problem import Problem
from carrel.store.libraries.service import LibrariesService
from carrel.store.notifications import NotificationsService
from carrel.store.sync.formatting import folder_name, summary_words

if TYPE_CHECKING:
    from carrel.sync.ledger import SyncedFolder
    from carrel.sync.progress import Summary, SyncProgress

ARRIVING = 1.0
"""Reload interval of the library in seconds while documents arrive."""

LISTED = 10
"""Most failures that a problem lists."""


class Round:
    """Shows one folder's syncs in its state, in the activity, and in the library."""

    def __init__(
        self,
        folder: SyncedFolder,
        change: Callable[..., None],
        activity: ActivityService,
        notifications: NotificationsService,
        libraries: LibrariesService,
        *,
        stop: Callable[[], object],
        again: Callable[[], object],
    ) -> None:
        """Take the services to show in. `change` is called with new fields of the folder's
        state."""
        self._folder = folder
        self._change = change
        self._activity = activity
        self._notifications = notifications
        self._libraries = libraries
        self._stop = stop
        self._again = again
        self._name = folder_name(folder.path)
        self._path = str(folder.path)
        self._item: str | None = None
        self._due = 0.0

    def show_progress(self, progress: SyncProgress) -> None:
        """Show progress."""
        self._change(progress=progress)
        if progress.phase != "syncing":
            return
        if self._item is None:
            self._item = f"sync-{self._folder.id}-{time.monotonic_ns()}"
            self._activity.show(ActivityItem(self._item, "sync", self._name, path=self._path))
            self._activity.set_cancel(self._item, self._stop)
            self._activity.set_again(self._item, self._again)
        self._activity.change(
            self._item, status="running", done=progress.bytes, total=progress.of_bytes
        )
        if time.monotonic() > self._due:
            self._due = time.monotonic() + ARRIVING
            self._libraries.load()

    def show_end(self, result: Summary | Exception, *, is_news: bool) -> None:
        """Show the result of a sync, and notify of news; a watch continues with the next."""
        if isinstance(result, Exception):
            error = Problem.of(result)
            self._close("failed", error)
            self._change(problem=error, progress=None)
            return
        problem = _problem_of(result)
        self._close("failed" if problem else "done", problem)
        self._change(
            problem=None,
            progress=None,
            preview=None,
            summary=result,
            reached=None,
            synced_at=time.time(),
            compared_at=time.time(),
        )
        if result.changed:
            self._libraries.reload()
        if is_news:
            self._notifications.notify(
                f"{self._name}: {summary_words(result)}.", "error" if problem else "info"
            )

    @contextlib.contextmanager
    def follow(self) -> Iterator[None]:
        """End the activity item if the block fails or is cancelled."""
        try:
            yield
        except asyncio.CancelledError:
            self._close("cancelled")
            self._libraries.reload()
            raise
        except Exception as error:
            self._close("failed", Problem.of(error))
            raise

    def _close(self, status: ActivityStatus, problem: Problem | None = None) -> None:
        if self._item is not None:
            self._activity.change(self._item, status=status, error=problem)
        self._item = None


def _problem_of(summary: Summary) -> Problem | None:
    if not summary.failures:
        return None
    number = len(summary.failures)
    return Problem(
        f"{counted(number, 'file')} {'was' if number == 1 else 'were'} not synced",
        "; ".join(f"{each.path}: {each.reason}" for each in summary.failures[:LISTED]),
        "The next sync tries again.",
    )
