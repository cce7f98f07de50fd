"""Long-running work: uploads, downloads, reading, processing."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import replace
from typing import Any, TypeVar

from carrel.store.activity.state import (
    ActivityItem,
    ActivityKind,
    ActivityState,
    ActivityStatus,
    Unit,
)
from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.core.formatting import count
from carrel.store.journal.entries import Entry
from carrel.store.journal.journal import Journal

T = TypeVar("T")

KEPT = 200
"""Number of ended items in the list; successes are dropped before failures, the oldest first."""
NOT_DONE = ("interrupted", "failed")
Again = Callable[[], object]
Report = Callable[[int, int], object]
"""Progress callback, called with the units done and the total."""
Task = Callable[[Entry], object]
"""A task of the journal: repeats an interrupted item, whose result may exist already."""


class ActivityEntry:
    """Handle through which an action reports on its item.

    Made on any thread, used on the owner loop. If an earlier start `left` the work, its effect may
    exist already.
    """

    def __init__(self, service: ActivityService, item: ActivityItem) -> None:
        self.id = item.id
        self.left = False
        self._service = service

    async def secure(self) -> None:
        """Wait until the journal entry is on disk."""
        await self._service.secure()

    def progress(self, done: int, total: int | None = None) -> None:
        """Record that `done` of `total` units are done; the first call starts the clock."""
        self._service.change(self.id, status="running", done=done, total=total)

    def rename(self, name: str) -> None:
        """Set the item's name once it is known."""
        self._service.change(self.id, name=name)

    def set_subject(self, subject: str) -> None:
        """Set the file or document that the item is about."""
        self._service.change(self.id, subject=subject)

    def wait(self) -> None:
        """Mark the item as waiting again, without progress."""
        self._service.change(self.id, status="queued", done=None, rate=None, started=None)

    def follow(self, handle: Handle[T], again: Again | None = None) -> Handle[T]:
        """Tie the item to an action's handle: both end together, and cancelling the item cancels
        the action.

        Returns the handle. `again` retries the action as a new item.
        """
        self._service.set_cancel(self.id, handle.cancel)
        if again is not None:
            self._service.set_again(self.id, again)
        handle.add_done_callback(self._end_with)
        return handle

    def _end_with(self, handle: Handle[Any]) -> None:
        if handle.outcome == "done":
            self._service.change(self.id, status="done")
        elif handle.outcome == "failed":
            self._service.change(self.id, status="failed", error=handle.error)
        else:
            self._service.change(self.id, status="cancelled")


class ActivityService:
    """All items; the repeatable ones are in the journal until they are done.

    Items that run when the service is left, or its process is killed, are interrupted at the next
    start.
    """

    def __init__(self, loop: OwnerLoop, journal: Journal) -> None:
        self.slice = Slice(ActivityState())
        self._loop = loop
        self._journal = journal
        self._tasks: dict[str, Task] = {}
        self._cancels: dict[str, Callable[[], object]] = {}
        self._agains: dict[str, Again] = {}
        self._interrupted: dict[str, Entry] = {}
        self._leaving = False

    # Items

    def begin(
        self,
        kind: ActivityKind,
        name: str,
        *,
        unit: Unit = "bytes",
        total: int | None = None,
        subject: str | None = None,
        task: str = "",
        needs: Mapping[str, Any] | None = None,
        left: Entry | None = None,
    ) -> ActivityEntry:
        """Return a new, queued item. May be called from any thread.

        With `needs`, the item is journaled and replaces the interrupted item `left`, or one that
        does the same. The next start repeats it by its `task`; without one, it is only shown.
        """
        id = f"{kind}-{uuid.uuid4().hex[:12]}"
        entry = Entry(id, kind, name, unit, total, subject, task, needs or {})
        item = ActivityItem(
            id, kind, name, total=total, unit=unit, subject=subject, path=entry.path
        )
        reports = ActivityEntry(self, item)
        kept = entry if needs is not None else None
        self._loop.call(lambda: self._begin(item, kept, left, reports))
        return reports

    def _begin(
        self, item: ActivityItem, entry: Entry | None, left: Entry | None, reports: ActivityEntry
    ) -> None:
        if left is None and entry is not None:
            left = next((one for one in self._interrupted.values() if one.is_like(entry)), None)
        instead = None if left is None else left.id
        reports.left = left is not None and bool(left.task)
        self._interrupted.pop(instead or "", None)
        if entry is not None:
            self._journal.add(entry, instead)
        state = self.slice.value
        if item.kind == "ocr":
            # One journal entry a document: this run replaces earlier unfinished ones.
            self._keep(lambda old: old.subject != item.subject or old.status not in NOT_DONE)
            state = self.slice.value
        again = any(old.kind == item.kind and old.is_under_way for old in state.items)
        number = state.begun.get(item.kind, 0) + 1 if again else 1
        self._add(item, instead, {**state.begun, item.kind: number})

    def run(
        self,
        kind: ActivityKind,
        name: str,
        work: Callable[[ActivityEntry], Handle[T]],
        left: Entry | None = None,
        **about: Any,
    ) -> Handle[T]:
        """Begin an item, as `begin` does, and its work, whose end is the item's.

        A retry begins both as a new item.
        """
        entry = self.begin(kind, name, left=left, **about)
        return entry.follow(work(entry), lambda: self.run(kind, name, work, **about))

    def deletion(self, names: Sized, many: str, delete: Callable[[Report], Handle[T]]) -> Handle[T]:
        """Begin a deletion; a deletion of several (`many`, as in "files") shows its progress as an
        item."""
        if len(names) < 2:
            return delete(lambda done, total: None)
        name = f"{count(len(names))} {many}"
        entry = self.begin("delete", name, unit="items", total=len(names))
        return entry.follow(delete(entry.progress))

    def show(self, item: ActivityItem) -> None:
        """Add or replace, by id, an item that is managed elsewhere; on the owner loop."""
        if any(old.id == item.id for old in self.slice.value.items):
            self._replace(item)
        else:
            self._add(item)

    def find(self, item_id: str) -> ActivityItem | None:
        """Return the item of an id, or None."""
        return next((item for item in self.slice.value.items if item.id == item_id), None)

    def change(self, item_id: str, **fields: Any) -> None:
        """Change fields of an item but not its clock; on the owner loop."""
        old = self.find(item_id)
        if old is None or old.ended:
            return
        # A report without a total keeps the known one.
        if fields.get("total", 0) is None:
            del fields["total"]
        item, now = replace(old, **fields), time.time()
        if item.started is None and item.status != "queued":
            item = replace(item, started=now, before=item.done or 0)
        if item.ended:
            self._note_end(item)
            item = replace(item, finished=now, retryable=item.id in self._agains)
        elapsed, done = now - (item.started or now), (item.done or 0) - item.before
        if done > 0 and elapsed > 0:
            item = replace(item, rate=done / elapsed)
        self._replace(item)

    def _note_end(self, item: ActivityItem) -> None:
        self._cancels.pop(item.id, None)
        if item.status == "done":
            self._agains.pop(item.id, None)
        if item.status == "failed" and item.error is not None:
            self._journal.fail(item.id, item.error)
        elif item.status == "done" or not self._leaving:
            self._journal.end(item.id)

    def set_cancel(self, item_id: str, cancel: Callable[[], object]) -> None:
        """Set the function that cancels an item."""
        self._cancels[item_id] = cancel

    def set_again(self, item_id: str, again: Again) -> None:
        """Set the function that retries an item."""
        self._agains[item_id] = again

    # The journal

    def set_task(self, name: str, task: Task) -> None:
        """Register the function that repeats a task's journal entries; the first registration
        stays."""
        self._tasks.setdefault(name, task)

    async def secure(self) -> None:
        """Wait until all items are in the journal on the disk."""
        await self._journal.secure()

    async def take_over(self) -> None:
        """Show the unfinished and failed items of ended processes."""
        left = await asyncio.to_thread(self._journal.take_over)
        for entry in left.entries:
            self._show_left(entry)
        if left.entries:
            self.slice.set(begun={**self.slice.value.begun, **left.begun})

    def _show_left(self, entry: Entry) -> None:
        task = self._tasks.get(entry.task)
        status: ActivityStatus = "interrupted" if entry.error is None else "failed"
        self._interrupted[entry.id] = entry
        if task is not None:
            self._agains[entry.id] = lambda: task(entry)
        kind: Any = entry.kind
        unit: Any = entry.unit
        self._add(
            ActivityItem(
                entry.id, kind, entry.name, status, total=entry.total, unit=unit,
                subject=entry.subject, error=entry.error, retryable=task is not None,
                path=entry.path,
            )
        )  # fmt: skip

    def leave(self) -> None:
        """Keep items cancelled from now on in the journal; the next start resumes them."""
        self._leaving = True

    def close(self) -> None:
        """Close this process's journal."""
        self._journal.close()

    # Actions on items, from any thread

    def cancel(self, *item_ids: str) -> None:
        """Cancel items and drop interrupted ones; items that cannot be cancelled go on."""
        for item_id in item_ids:
            if (cancel := self._cancels.get(item_id)) is not None:
                cancel()
        dropped = {item.id for item in self.slice.value.interrupted} & {*item_ids}
        if dropped:
            self._loop.call(lambda: self._keep(lambda item: item.id not in dropped))

    def retry(self, *item_ids: str) -> None:
        """Retry interrupted, failed or cancelled items; each is replaced by a new one."""
        self._loop.call(lambda: self._retry(item_ids))

    def dismiss(self, *item_ids: str) -> None:
        """Remove ended items from the list."""
        gone = {*item_ids}
        self._loop.call(lambda: self._keep(lambda item: item.id not in gone or not item.ended))

    def dismiss_all(self) -> None:
        """Remove all ended items from the list."""
        self._loop.call(lambda: self._keep(lambda item: not item.ended))

    def mark(self, item_id: str) -> Handle[None]:
        """Toggle the mark of an item."""
        return self._mark(self.slice.value.marked ^ {item_id})

    def mark_range(self, item_ids: Iterable[str]) -> Handle[None]:
        """Mark several items."""
        return self._mark(self.slice.value.marked.union(item_ids))

    def mark_none(self) -> Handle[None]:
        """Remove all marks."""
        return self._mark(frozenset())

    def mark_all(self) -> Handle[None]:
        """Mark all items."""
        return self._mark(frozenset(item.id for item in self.slice.value.items))

    def invert_marks(self) -> Handle[None]:
        """Invert the marks of all items."""
        state = self.slice.value
        return self._mark(frozenset(item.id for item in state.items) - state.marked)

    def _mark(self, marked: frozenset[str]) -> Handle[None]:
        def mark() -> None:
            self.slice.set(marked=marked)

        return self._loop.start(mark)

    def _retry(self, item_ids: Iterable[str]) -> None:
        wanted = {*item_ids}
        for item in reversed(self.slice.value.items):  # the oldest first, as they were begun
            again = self._agains.get(item.id) if item.id in wanted else None
            if item.retryable and again is not None:
                again()
                self._keep(lambda each, gone=item.id: each.id != gone)  # type: ignore[misc]

    # The list

    def _add(
        self, item: ActivityItem, instead: str | None = None, begun: Mapping[str, int] | None = None
    ) -> None:
        old = self.slice.value.items
        items = (item, *(one for one in old if one.id != instead))
        ended = sorted((one for one in items if one.ended), key=lambda one: one.status != "failed")
        surplus = {one.id for one in ended[KEPT:]}
        self.slice.set(items=items, begun=self.slice.value.begun if begun is None else begun)
        if surplus:
            self._keep(lambda one: one.id not in surplus)

    def _replace(self, item: ActivityItem) -> None:
        self.slice.set(
            items=tuple(item if old.id == item.id else old for old in self.slice.value.items)
        )

    def _keep(self, wanted: Callable[[ActivityItem], bool]) -> None:
        items = self.slice.value.items
        for item in items:
            if not wanted(item):
                self._agains.pop(item.id, None)
                self._interrupted.pop(item.id, None)
                self._journal.end(item.id)
        kept = tuple(item for item in items if wanted(item))
        marked = self.slice.value.marked & {item.id for item in kept}
        self.slice.set(items=kept, marked=marked)
