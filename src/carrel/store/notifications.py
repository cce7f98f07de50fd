"""Short messages on finished work."""

import itertools
import time
from dataclasses import dataclass
from typing import Literal

from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.core.formatting import one_line

Level = Literal["info", "error"]

KEPT = 50
"""Number of messages that are kept."""


@dataclass(frozen=True, slots=True)
class Notification:
    """One message; `at` is in seconds since 1970. `undo` marks a message about an undoable
    deletion."""

    id: int
    text: str
    level: Level
    at: float
    undo: bool = False


@dataclass(frozen=True, slots=True)
class NotificationsState:
    """The latest messages, newest last."""

    items: tuple[Notification, ...] = ()


class NotificationsService:
    def __init__(self, loop: OwnerLoop) -> None:
        self.slice = Slice(NotificationsState())
        self._loop = loop
        self._ids = itertools.count(1)

    def notify(self, text: str, level: Level = "info", *, undo: bool = False) -> None:
        """Add a message. May be called from any thread."""
        line = Notification(next(self._ids), one_line(text), level, time.time(), undo)
        self._loop.call(lambda: self.slice.set(items=(*self.slice.value.items, line)[-KEPT:]))
