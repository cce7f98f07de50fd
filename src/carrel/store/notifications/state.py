"""The last notifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["info", "error"]


@dataclass(frozen=True, slots=True)
class Notification:
    """One line; `at` in seconds since 1970. `undo`: it tells of what can be undone."""

    id: int
    text: str
    level: Level
    at: float
    undo: bool = False


@dataclass(frozen=True, slots=True)
class NotificationsState:
    """The last lines, newest last."""

    items: tuple[Notification, ...] = ()
