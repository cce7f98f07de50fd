"""The state of uploads, downloads, reading and processing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from carrel.store.core.problem import Problem

ActivityKind = Literal[
    "upload", "download", "sync", "ocr", "processing", "delete", "batch", "export"
]
ActivityStatus = Literal["queued", "running", "interrupted", "done", "failed", "cancelled"]
Unit = Literal["bytes", "pages", "items"]


@dataclass(frozen=True, slots=True)
class ActivityItem:
    """One piece of long-running work.

    `done` and `total` count in `unit`; `before` is the part of `done` from before the start. Times
    are seconds since 1970, `rate` is units a second since the start, `subject` the id of the file
    or document, `path` the file or folder on this machine. "interrupted" means that the item's
    process has ended; `retryable`, that it was interrupted, failed or was cancelled. `facts` are
    named details of one kind of item.
    """

    id: str
    kind: ActivityKind
    name: str
    status: ActivityStatus = "queued"
    done: int | None = None
    total: int | None = None
    unit: Unit = "bytes"
    started: float | None = None
    finished: float | None = None
    rate: float | None = None
    error: Problem | None = None
    subject: str | None = None
    before: int = 0
    retryable: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    path: str = ""

    @property
    def ended(self) -> bool:
        """Whether the item has reached a final status."""
        return self.status in ("done", "failed", "cancelled")

    @property
    def is_under_way(self) -> bool:
        """Whether the item runs or waits."""
        return self.status in ("queued", "running")


@dataclass(frozen=True, slots=True)
class ActivityState:
    """All items, newest first, and the ids of the marked ones.

    `begun` counts, by kind, the items begun since that kind was last idle, interrupted ones
    included.
    """

    items: tuple[ActivityItem, ...] = ()
    marked: frozenset[str] = frozenset()
    begun: Mapping[str, int] = field(default_factory=dict)

    @property
    def interrupted(self) -> tuple[ActivityItem, ...]:
        """The items that an ended process left unfinished."""
        return tuple(item for item in self.items if item.status == "interrupted")

    @property
    def resumable(self) -> tuple[ActivityItem, ...]:
        """The interrupted items that can be resumed; files from a browser cannot."""
        return tuple(item for item in self.interrupted if item.retryable)
