"""Tells of deletions, and undoes them."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from carrel.store.core.action import Policy, action
from carrel.store.core.deleting import Deleted
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.notifications.service import NotificationsService
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService
from carrel.store.trash.state import DeletedFrom, Deletion, TrashState

NOTHING = Problem("Nothing to undo", "Nothing was deleted here that can be restored.")

Restore = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _WayBack:
    """How a deletion is undone: the items not restored yet, and the list that shows them."""

    ids: tuple[str, ...]
    restore: Restore | None
    reload: Callable[[], object]


class TrashService(Area[TrashState]):
    """The deletions of this run; the service keeps the items, as long as it says."""

    def __init__(
        self, loop: OwnerLoop, session: SessionService, notifications: NotificationsService
    ) -> None:
        super().__init__(loop, TrashState(), session)
        self._notifications = notifications
        self._numbers = itertools.count(1)
        self._ways: dict[int, _WayBack] = {}

    def deleted(
        self,
        area: DeletedFrom,
        deleted: Deleted,
        nouns: tuple[str, str],
        reload: Callable[[], object],
        restore: Restore | None = None,
    ) -> None:
        """Tells of a deletion, and remembers how it is undone; on the owner loop.

        `nouns` are “file” and “files”. `reload` shows restored items. `restore` restores one
        that this machine keeps; without it the service does, if it has a trash.
        """
        kept = restore is not None or self._session.slice.value.trash_days is not None
        undo = kept and bool(deleted.ids)
        self._notifications.notify(deleted.words(*nouns), undo=undo)
        if undo:
            what = deleted.counted(len(deleted.ids), *nouns)
            deletion = Deletion(next(self._numbers), area, what)
            self._ways[deletion.number] = _WayBack(deleted.ids, restore, reload)
            self.slice.set(deletions=(*self.slice.value.deletions, deletion))

    @action(Policy.QUEUE)
    def undo(self, area: DeletedFrom | None = None) -> Coroutine[Any, Any, None]:
        """Undoes the last deletion, or the last of one area."""
        deletion = self.slice.value.last(area)
        if deletion is None:
            raise ProblemError(NOTHING)
        if self._ways[deletion.number].restore is None:
            self._check_allowed()
        way = self._take(deletion)
        return self._undo(deletion, way)

    def _take(self, deletion: Deletion) -> _WayBack:
        rest = (each for each in self.slice.value.deletions if each is not deletion)
        self.slice.set(deletions=tuple(rest), error=None)
        return self._ways.pop(deletion.number)

    async def _undo(self, deletion: Deletion, way: _WayBack) -> None:
        from carrel.client.errors import ClientError, Unreachable

        client = None if way.restore else await self._session.client()
        restore = way.restore or (client.trash.restore if client else None)
        assert restore is not None
        refused: list[Exception] = []
        try:
            for number, id in enumerate(way.ids):
                try:
                    await restore(id)
                except Unreachable:
                    self._put_back(deletion, way, way.ids[number:])
                    raise
                except (ClientError, OSError) as error:
                    refused.append(error)
        finally:
            way.reload()
        if refused:
            problem = Problem.of(refused[0])
            number = len(refused)
            what = "Not restored" if number == len(way.ids) else f"{number} not restored"
            raise ProblemError(Problem(what, f"{problem.title}. {problem.detail}"))
        self._notifications.notify(f"Restored {deletion.what}.")

    def _put_back(self, deletion: Deletion, way: _WayBack, ids: tuple[str, ...]) -> None:
        self._ways[deletion.number] = _WayBack(ids, way.restore, way.reload)
        self.slice.set(deletions=(*self.slice.value.deletions, deletion))
