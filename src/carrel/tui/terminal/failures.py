"""Telling one unexpected error from an error that comes back at every drawing."""

import time
import traceback
from collections import defaultdict, deque


class RecentErrors:
    """The errors of the last `seconds`, by kind: the same class from the same line."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: defaultdict[object, deque[float]] = defaultdict(deque)

    def add(self, error: BaseException) -> int:
        """Count an error; give the number of its kind within the time, this one included."""
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno) if frames else None
        times, now = self._times[type(error), place], time.monotonic()
        times.append(now)
        while now - times[0] > self._seconds:
            times.popleft()
        return len(times)
