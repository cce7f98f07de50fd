"""The deletions that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

DeletedFrom = Literal["files", "libraries", "agents", "chats"]


@dataclass(frozen=True, slots=True)
class Deletion:
    """Items that were deleted together; `what` names them: “3 files”."""

    number: int
    area: DeletedFrom
    what: str


@dataclass(frozen=True, slots=True)
class TrashState:
    """The deletions of this run that can be undone, newest last."""

    deletions: tuple[Deletion, ...] = ()
    error: Problem | None = None

    def last(self, area: DeletedFrom | None = None) -> Deletion | None:
        """The newest deletion, or the newest of one area."""
        found = (each for each in reversed(self.deletions) if area in (None, each.area))
        return next(found, None)
