"""Detection of errors that recur at every redraw."""

import time
import traceback
from collections import defaultdict, deque


class RecentErrors:
    """The errors of the last `seconds` by kind: equal class and line."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: defaultdict[object, deque[float]] = defaultdict(deque)

    def add(self, error: BaseException) -> int:
        """Count an error; return the number of its kind in the time window, including it."""
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno) if frames else None
        times, now = self._times[type(error), place], time.monotonic()
        times.append(now)
        while now - times[0] > self._seconds:
            times.popleft()
        return len(times)
