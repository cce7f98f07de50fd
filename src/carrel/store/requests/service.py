"""The log of all calls to the service."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice

if TYPE_CHECKING:
    from carrel.client import Call

KEPT = 300
"""Number of calls that are kept."""
RECENT = 6
"""A GET that repeats one of this many newest lines is counted, not added."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; `at` is the end of the last of its `times` repetitions, in seconds since 1970."""

    id: int
    call: Call
    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class RequestsState:
    """The calls, newest first. `hidden` counts the calls withheld until a blind vote."""

    items: tuple[LoggedCall, ...] = ()
    hidden: int = 0


class RequestsService:
    def __init__(self, loop: OwnerLoop) -> None:
        self.slice = Slice(RequestsState())
        self._loop = loop
        self._ids = itertools.count(1)
        self._conceals = False
        self._concealed: list[tuple[Call, float]] = []

    def log(self, call: Call) -> None:
        """Add a call. May be called from any thread."""
        self._loop.call(lambda: self._add(call, time.time()))

    def clear(self) -> None:
        """Clear the log. May be called from any thread."""
        self._loop.call(lambda: self.slice.put(RequestsState(hidden=self.slice.value.hidden)))

    def conceal(self, conceals: bool) -> None:
        """Hide calls that would reveal the answering agent, or show them again; on the owner
        loop."""
        self._conceals = conceals
        if not conceals:
            held, self._concealed = self._concealed, []
            for call, at in held:
                self._add(call, at)
            self.slice.set(hidden=0)

    def _add(self, call: Call, now: float) -> None:
        if self._conceals:
            self._concealed.append((call, now))
            del self._concealed[:-KEPT]
            self.slice.set(hidden=self.slice.value.hidden + 1)
            return
        items = self.slice.value.items
        # Polling would otherwise bury all other calls.
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
