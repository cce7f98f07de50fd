"""The state of uploads, downloads, reading and processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

ActivityKind = Literal["upload", "download", "sync", "ocr", "processing", "delete", "batch"]
ActivityStatus = Literal["queued", "running", "done", "failed", "cancelled"]
Unit = Literal["bytes", "pages", "items"]


@dataclass(frozen=True, slots=True)
class ActivityItem:
    """One piece of long-running work.

    `done` and `total` count in `unit`, and `before` is what was done when it started; times are
    seconds since 1970; `rate` is units a second since it started; `subject` is the id of the file
    or document it is about. `retryable`: it failed or was cancelled, and can be retried. `facts`
    are names with words that only its kind has.
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


@dataclass(frozen=True, slots=True)
class ActivityState:
    """All items, newest first."""

    items: tuple[ActivityItem, ...] = ()
