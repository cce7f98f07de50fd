"""Announces deletions, undoes them, and lists the trash."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from carrel.client.http.errors import ClientError, Unreachable
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.deleting import Deleted
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.notifications import NotificationsService
from carrel.store.session.service import SessionService
from carrel.store.trash.state import DeletedFrom, DeletedItem, DeletedKind, Deletion, TrashState

NOTHING = Problem("Nothing to undo", "Nothing was deleted in this run.", "The trash has the rest.")

Restore = Callable[[str], Awaitable[object]]
Kept = Callable[[], Sequence[DeletedItem]]
NONE_KEPT: Kept = tuple


@dataclass(frozen=True, slots=True)
class _Undo:
    """The undoing of a deletion: the items still to restore, and the list that shows them."""

    ids: tuple[str, ...]
    restore: Restore | None
    reload: Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Kind:
    reload: Callable[[], object]
    restore: Restore | None
    kept: Kept


class TrashService(Service[TrashState]):
    """The deletions of this run; the service keeps the items for a limited time."""

    def __init__(
        self, loop: OwnerLoop, session: SessionService, notifications: NotificationsService
    ) -> None:
        super().__init__(loop, TrashState(), session)
        self._session = session
        self._notifications = notifications
        self._numbers = itertools.count(1)
        self._ways: dict[int, _Undo] = {}
        self._kinds: dict[DeletedKind, _Kind] = {}

    def lists(
        self,
        kind: DeletedKind,
        reload: Callable[[], object],
        restore: Restore | None = None,
        kept: Kept = NONE_KEPT,
    ) -> None:
        """Register a kind of items: `reload` shows them; `kept` lists the items kept on this
        machine, and `restore` restores one of them."""
        self._kinds[kind] = _Kind(reload, restore, kept)

    def note_deletion(
        self,
        area: DeletedFrom,
        deleted: Deleted,
        nouns: tuple[str, str],
        reload: Callable[[], object],
        restore: Restore | None = None,
    ) -> None:
        """Announce a deletion and remember the way to undo it; on the owner loop.

        `nouns` are “file” and “files”. `reload` shows restored items. `restore` restores a locally
        kept one; without it the service does, if it has a trash.
        """
        kept = restore is not None or self._session.slice.value.trash_days is not None
        undo = kept and bool(deleted.ids)
        self._notifications.notify(deleted.words(*nouns), undo=undo)
        if undo:
            what = deleted.counted(len(deleted.ids), *nouns)
            deletion = Deletion(next(self._numbers), area, what)
            self._ways[deletion.number] = _Undo(deleted.ids, restore, reload)
            self.slice.set(deletions=(*self.slice.value.deletions, deletion))

    @action(Policy.QUEUE)
    def undo(self, area: DeletedFrom | None = None) -> Coroutine[Any, Any, None]:
        """Undo the last deletion, or the last of one area."""
        deletion = self.slice.value.last(area)
        if deletion is None:
            raise ProblemError(NOTHING)
        if self._ways[deletion.number].restore is None:
            self._session.check_allowed()
        way = self._take(deletion)
        return self._undo(deletion, way)

    async def _load(self) -> None:
        """Load the service's items, and the items kept on this machine."""
        with self._set_loading():
            kept = [await asyncio.to_thread(kind.kept) for kind in self._kinds.values()]
            found = {item.id: item for items in kept for item in items}
            parts = {id for item in found.values() for id in item.parts}
            client = await self._session.client()
            if self._session.slice.value.trash_days is not None:
                async for item in client.trash.every():
                    times = item.deleted_at.timestamp(), item.expires_at.timestamp()
                    found[item.id] = DeletedItem(item.id, item.kind, item.name or "", *times)
        for id in parts:
            found.pop(id, None)
        items = sorted(found.values(), key=lambda item: item.deleted_at, reverse=True)
        marked = self.slice.value.marked & found.keys()
        self.slice.set(items=tuple(items), marked=marked, loaded=True)

    @instant
    def mark(self, item_id: str) -> None:
        """Toggle the mark of an item of the trash."""
        self.slice.set(marked=self.slice.value.marked ^ {item_id})

    @action(Policy.QUEUE, lane="undo")
    def restore(self, item_ids: Iterable[str]) -> Coroutine[Any, Any, int]:
        """Restore items of the trash and return their number; a failed one stops no other."""
        ids = {*item_ids}
        items = [item for item in self.slice.value.items if item.id in ids]
        if any(item.kind != "conversation" for item in items):
            self._session.check_allowed()
        return self._restore_each(items)

    async def _restore_each(self, items: Sequence[DeletedItem]) -> int:
        client = await self._session.client()
        refused: list[Exception] = []
        done = 0
        try:
            # Libraries first: their documents are restored into them.
            for item in sorted(items, key=lambda item: item.kind != "library"):
                try:
                    await (self._kinds[item.kind].restore or client.trash.restore)(item.id)
                except Unreachable:
                    raise
                except (ClientError, OSError) as error:
                    refused.append(error)
                else:
                    done += 1
        finally:
            for kind in {item.kind for item in items}:
                self._kinds[kind].reload()
            self.reload()
        self.slice.set(marked=frozenset())
        if refused:
            raise _explain_refusals(refused, len(items))
        self._notifications.notify(f"Restored {Deleted.counted(done, 'item', 'items')}.")
        return done

    def _take(self, deletion: Deletion) -> _Undo:
        rest = (each for each in self.slice.value.deletions if each is not deletion)
        self.slice.set(deletions=tuple(rest), error=None)
        return self._ways.pop(deletion.number)

    async def _undo(self, deletion: Deletion, way: _Undo) -> None:
        restore = way.restore or (await self._session.client()).trash.restore
        refused: list[Exception] = []
        try:
            for number, id in enumerate(way.ids):
                try:
                    await restore(id)
                except Unreachable:
                    self._ways[deletion.number] = replace(way, ids=way.ids[number:])
                    self.slice.set(deletions=(*self.slice.value.deletions, deletion))
                    raise
                except (ClientError, OSError) as error:
                    refused.append(error)
        finally:
            way.reload()
        if refused:
            raise _explain_refusals(refused, len(way.ids))
        self._notifications.notify(f"Restored {deletion.what}.")


def _explain_refusals(refused: Sequence[Exception], total: int) -> ProblemError:
    problem, number = Problem.of(refused[0]), len(refused)
    what = "Not restored" if number == total else f"{number} not restored"
    return ProblemError(what, f"{problem.title}. {problem.detail}")
