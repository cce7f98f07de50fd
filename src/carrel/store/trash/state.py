"""The deletions that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

DeletedFrom = Literal["files", "libraries", "agents", "chats"]
DeletedKind = Literal["file", "document", "library", "agent", "conversation"]


@dataclass(frozen=True, slots=True)
class Deletion:
    """Items that were deleted together; `what` names them: “3 files”."""

    number: int
    area: DeletedFrom
    what: str


@dataclass(frozen=True, slots=True)
class DeletedItem:
    """An item of the trash; its times in seconds since 1970.

    `parts` are the ids of items that were deleted, and are restored, with it.
    """

    id: str
    kind: DeletedKind
    name: str
    deleted_at: float
    expires_at: float
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrashState:
    """The deletions of this run that can be undone, newest last; the list of the whole trash, the
    last deleted first, and the ids of its marked items."""

    deletions: tuple[Deletion, ...] = ()
    items: tuple[DeletedItem, ...] = ()
    marked: frozenset[str] = frozenset()
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    def last(self, area: DeletedFrom | None = None) -> Deletion | None:
        """Return the newest deletion, or the newest of one area."""
        found = (each for each in reversed(self.deletions) if area in (None, each.area))
        return next(found, None)
