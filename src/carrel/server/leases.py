"""Leases: how a server knows that somebody is using it."""

import time
from collections.abc import Callable

LEASE_SECONDS = 30
"""How long a lease lasts; its holder renews it every ten seconds."""
UNUSED_SECONDS = 60
"""How long a server that may stop stays without a lease."""


class Leases:
    """Who uses the server, and since when nobody does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._last_use = clock()

    def renew(self, holder: str) -> None:
        """Takes out a lease or renews it."""
        self._ends[holder] = self._clock() + LEASE_SECONDS

    def release(self, holder: str) -> None:
        """Ends a lease; harmless when there is none."""
        if self._ends.pop(holder, None) is not None:
            self._last_use = self._clock()

    def unused_seconds(self) -> float:
        """Seconds since the last lease ended; 0 while there is one."""
        now = self._clock()
        for holder, end in list(self._ends.items()):
            if end <= now:
                del self._ends[holder]
                self._last_use = max(self._last_use, end)
        return 0.0 if self._ends else now - self._last_use
