"""The deletions that can be undone."""

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

DeletedFrom = Literal["files", "libraries", "agents", "chats"]
DeletedKind = Literal["file", "document", "library", "agent", "conversation"]


@dataclass(frozen=True, slots=True)
class Deletion:
    """Items deleted together; `what` names them: “3 files”."""

    number: int
    area: DeletedFrom
    what: str


@dataclass(frozen=True, slots=True)
class DeletedItem:
    """An item of the trash; its times are in seconds since 1970.

    `parts` are the ids of items deleted and restored with it.
    """

    id: str
    kind: DeletedKind
    name: str
    deleted_at: float
    expires_at: float
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrashState:
    """The undoable deletions of this run, newest last; the list of the trash, last deleted first;
    and its marked items' ids."""

    deletions: tuple[Deletion, ...] = ()
    items: tuple[DeletedItem, ...] = ()
    marked: frozenset[str] = frozenset()
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    def last(self, area: DeletedFrom | None = None) -> Deletion | None:
        """Return the newest deletion, or the newest of one area."""
        found = (deletion for deletion in reversed(self.deletions) if area in (None, deletion.area))
        return next(found, None)
