"""The state of uploads, downloads, reading and processing."""

from __future__ import annotations

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

    `done` and `total` count in `unit`, and `before` is what was done when it started; times are
    seconds since 1970; `rate` is units a second since it started; `subject` is the id of the file
    or document it is about. "interrupted": the process that it ran in has ended. `retryable`: it
    was interrupted, failed or was cancelled, and can be retried. `facts` are names with words
    that only its kind has.
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

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in ("done", "failed", "cancelled")

    @property
    def under_way(self) -> bool:
        """Whether it runs or waits."""
        return self.status in ("queued", "running")


@dataclass(frozen=True, slots=True)
class ActivityState:
    """All items, newest first; `marked` are the ids of marked ones.

    `begun` are the pieces of work, by kind, that were begun since none of the kind was under way;
    with interrupted ones, those that were begun with them.
    """

    items: tuple[ActivityItem, ...] = ()
    marked: frozenset[str] = frozenset()
    begun: Mapping[str, int] = field(default_factory=dict)

    @property
    def interrupted(self) -> tuple[ActivityItem, ...]:
        """What an earlier start left undone."""
        return tuple(item for item in self.items if item.status == "interrupted")
