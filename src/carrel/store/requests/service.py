"""The request log: every call that was made to the service."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.store.core.loop import OwnerLoop
from carrel.store.core.slice import Slice

if TYPE_CHECKING:
    from carrel.client import Call

KEPT = 300
"""How many lines stay."""
RECENT = 6
"""A question asked again while it is among so many of the newest is counted there."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; `at` is when the last of its `times` ended, in seconds since 1970."""

    id: int
    call: Call
    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class RequestsState:
    """The newest first."""

    items: tuple[LoggedCall, ...] = ()


class RequestsService:
    def __init__(self, loop: OwnerLoop) -> None:
        self.slice = Slice(RequestsState())
        self._loop = loop
        self._ids = itertools.count(1)

    def log(self, call: Call) -> None:
        """Adds a call, from any thread."""
        self._loop.call(lambda: self._add(call, time.time()))

    def clear(self) -> None:
        """Forgets every call, from any thread."""
        self._loop.call(lambda: self.slice.put(RequestsState()))

    def _add(self, call: Call, now: float) -> None:
        items = self.slice.value.items
        # What looks again and again, at its health or at a list, would bury all else.
        same = next((item for item in items[:RECENT] if _repeats(call, item.call)), None)
        if same is None:
            new = LoggedCall(next(self._ids), call, now)
        else:
            new = replace(same, call=call, at=now, times=same.times + 1)
        others = (item for item in items if item is not same)
        self.slice.set(items=(new, *others)[:KEPT])


def _repeats(call: Call, before: Call) -> bool:
    return call.method == before.method == "GET" and (
        (call.path, call.query, call.status) == (before.path, before.query, before.status)
    )
