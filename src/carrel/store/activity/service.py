"""Long-running work: uploads, downloads, reading, processing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sized
from dataclasses import replace
from typing import Any, TypeVar

from carrel.store.activity.state import ActivityItem, ActivityKind, ActivityState, Unit
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.slice import Slice
from carrel.store.core.words import count

T = TypeVar("T")

KEPT = 200
"""Ended items that are kept; successes are dropped before failures, the oldest first."""
Again = Callable[[], object]
Report = Callable[[int, int], object]
"""Takes how many of how many are done."""


class ActivityEntry:
    """One item as its action reports on it. Made on any thread, used on the owner loop."""

    def __init__(self, service: ActivityService, item: ActivityItem) -> None:
        self.id = item.id
        self._service = service

    def progress(self, done: int, total: int | None = None) -> None:
        """So far `done` units of `total`; the first call starts the clock."""
        self._service.change(self.id, status="running", done=done, total=total)

    def rename(self, name: str) -> None:
        """Gives the item its name once that is known."""
        self._service.change(self.id, name=name)

    def about(self, subject: str) -> None:
        """Names the file or document it is about."""
        self._service.change(self.id, subject=subject)

    def wait(self) -> None:
        """Back to the queue, with no progress."""
        self._service.change(self.id, status="queued", done=None, rate=None, started=None)

    def follow(self, handle: Handle[T], again: Again | None = None) -> Handle[T]:
        """Ties the item to an action: it ends with the handle, and cancels it. Returns the handle.

        `again` retries, as a new item.
        """
        self._service.set_cancel(self.id, handle.cancel)
        if again is not None:
            self._service.set_again(self.id, again)
        handle.add_done_callback(self._ended)
        return handle

    def _ended(self, handle: Handle[Any]) -> None:
        if handle.outcome == "done":
            self._service.change(self.id, status="done")
        elif handle.outcome == "failed":
            self._service.change(self.id, status="failed", error=handle.error)
        else:
            self._service.change(self.id, status="cancelled")


class ActivityService:
    def __init__(self, loop: OwnerLoop) -> None:
        self.slice = Slice(ActivityState())
        self._loop = loop
        self._ids = itertools.count(1)
        self._cancels: dict[str, Callable[[], object]] = {}
        self._agains: dict[str, Again] = {}

    def begin(
        self,
        kind: ActivityKind,
        name: str,
        *,
        unit: Unit = "bytes",
        total: int | None = None,
        subject: str | None = None,
    ) -> ActivityEntry:
        """A new item, queued. From any thread."""
        item = ActivityItem(
            f"{kind}-{next(self._ids)}", kind, name, total=total, unit=unit, subject=subject
        )
        self._loop.call(lambda: self._add(item))
        return ActivityEntry(self, item)

    def deletion(self, names: Sized, many: str, delete: Callable[[Report], Handle[T]]) -> Handle[T]:
        """Begins a deletion; its progress is an item where it is of several (`many`: "files")."""
        if len(names) < 2:
            return delete(lambda done, total: None)
        name = f"{count(len(names))} {many}"
        entry = self.begin("delete", name, unit="items", total=len(names))
        return entry.follow(delete(entry.progress))

    def show(self, item: ActivityItem) -> None:
        """Adds an item that lives elsewhere, or replaces the one of its id; on the owner loop."""
        if any(old.id == item.id for old in self.slice.value.items):
            self._replace(item)
        else:
            self._add(item)

    def find(self, item_id: str) -> ActivityItem | None:
        """The item of this id."""
        return next((item for item in self.slice.value.items if item.id == item_id), None)

    def change(self, item_id: str, **fields: Any) -> None:
        """Changes an item's fields and keeps its clock; on the owner loop."""
        old = self.find(item_id)
        if old is None or old.ended:
            return
        if fields.get("total", 0) is None:
            del fields["total"]
        item, now = replace(old, **fields), time.time()
        if item.started is None and item.status != "queued":
            item = replace(item, started=now, before=item.done or 0)
        if item.ended:
            self._cancels.pop(item.id, None)
            if item.status == "done":
                self._agains.pop(item.id, None)
            item = replace(item, finished=now, retryable=item.id in self._agains)
        elapsed, done = now - (item.started or now), (item.done or 0) - item.before
        if done > 0 and elapsed > 0:
            item = replace(item, rate=done / elapsed)
        self._replace(item)

    def set_cancel(self, item_id: str, cancel: Callable[[], object]) -> None:
        """Sets the function that cancels an item."""
        self._cancels[item_id] = cancel

    def set_again(self, item_id: str, again: Again) -> None:
        """Sets the function that retries an item."""
        self._agains[item_id] = again

    def cancel(self, item_id: str) -> None:
        """Cancels an item, from any thread; no effect where it cannot be cancelled."""
        cancel = self._cancels.get(item_id)
        if cancel is not None:
            cancel()

    def retry(self, item_id: str) -> None:
        """Retries a failed or cancelled item, which the new one replaces; from any thread."""
        self._loop.call(lambda: self._retry(item_id))

    def dismiss(self, item_id: str) -> None:
        """Removes an ended item from the list, from any thread."""
        self._loop.call(lambda: self._keep(lambda item: item.id != item_id or not item.ended))

    def dismiss_all(self) -> None:
        """Removes all ended items from the list, from any thread."""
        self._loop.call(lambda: self._keep(lambda item: not item.ended))

    def _retry(self, item_id: str) -> None:
        item, again = self.find(item_id), self._agains.get(item_id)
        if item is not None and item.retryable and again is not None:
            self._keep(lambda each: each.id != item_id)
            again()

    def _add(self, item: ActivityItem) -> None:
        items = (item, *self.slice.value.items)
        ended = sorted((old for old in items if old.ended), key=lambda old: old.status != "failed")
        surplus = {old.id for old in ended[KEPT:]}
        self.slice.set(items=items)
        if surplus:
            self._keep(lambda old: old.id not in surplus)

    def _replace(self, item: ActivityItem) -> None:
        self.slice.set(
            items=tuple(item if old.id == item.id else old for old in self.slice.value.items)
        )

    def _keep(self, wanted: Callable[[ActivityItem], bool]) -> None:
        items = self.slice.value.items
        for item in items:
            if not wanted(item):
                self._agains.pop(item.id, None)
        self.slice.set(items=tuple(item for item in items if wanted(item)))
