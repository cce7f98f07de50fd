"""Leases: users of a server register and renew them."""

import time
from collections.abc import Callable

LEASE_SECONDS = 30
"""Duration of a lease in seconds; its holder renews it every ten."""
UNUSED_SECONDS = 60
"""Seconds without a lease after which a server may stop."""


class Leases:
    """The current leases."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._last_use = clock()

    def renew(self, holder: str) -> None:
        """Take out or renew a lease."""
        self._ends[holder] = self._clock() + LEASE_SECONDS

    def release(self, holder: str) -> None:
        """End a lease; do nothing without one."""
        if self._ends.pop(holder, None) is not None:
            self._last_use = self._clock()

    def unused_seconds(self) -> float:
        """Return the seconds since the last lease ended, 0 while there is one."""
        now = self._clock()
        for holder, end in list(self._ends.items()):
            if end <= now:
                del self._ends[holder]
                self._last_use = max(self._last_use, end)
        return 0.0 if self._ends else now - self._last_use
