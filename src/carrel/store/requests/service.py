"""The log of all calls to the service."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.store.core.loop import OwnerLoop
from carrel.store.core.slice import Slice
from carrel.store.requests.state import LoggedCall, RequestsState

if TYPE_CHECKING:
    from carrel.client import Call

KEPT = 300
"""Lines that are kept."""
RECENT = 6
"""A repeated GET among this many newest lines is counted there."""


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
        # Polling would otherwise bury all else.
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
