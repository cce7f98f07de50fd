"""Short lines that tell what happened."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Literal

from carrel.store.core.loop import OwnerLoop
from carrel.store.core.slice import Slice
from carrel.store.core.words import one_line

KEPT = 50
"""How many lines stay."""

Level = Literal["info", "error"]


@dataclass(frozen=True, slots=True)
class Notification:
    """One line; `at` in seconds since 1970."""

    id: int
    text: str
    level: Level
    at: float


@dataclass(frozen=True, slots=True)
class NotificationsState:
    """The last lines, newest last."""

    items: tuple[Notification, ...] = ()


class NotificationsService:
    def __init__(self, loop: OwnerLoop) -> None:
        self.slice = Slice(NotificationsState())
        self._loop = loop
        self._ids = itertools.count(1)

    def notify(self, text: str, level: Level = "info") -> None:
        """Adds a line, from any thread."""
        line = Notification(next(self._ids), one_line(text), level, time.time())
        self._loop.call(lambda: self.slice.set(items=(*self.slice.value.items, line)[-KEPT:]))
