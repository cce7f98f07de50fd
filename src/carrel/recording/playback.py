"""Playback position of a recording, and seeking."""

from bisect import bisect_left, bisect_right

from carrel.recording.asciicast import Recording

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
JUMP = 10.0
"""Seconds of a jump in a recording without marks."""
NEAR = 1.0
"""Seconds after a mark within which a jump back goes to the mark before it."""
CLEAR = "\x1b[0m\x1b[r\x1b[2J\x1b[H"
"""Sequence that clears the screen."""


class Playback:
    """Plays a recording. It has no clock: the caller advances the time."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.at = 0.0
        self.speed = 1.0
        self.paused = False
        self._times = [event.at for event in recording.events]
        self._next = 0

    @property
    def ended(self) -> bool:
        """Whether all output was shown."""
        return self.at >= self.recording.seconds

    @property
    def step(self) -> int:
        """The number of passed marks."""
        return sum(mark.at <= self.at for mark in self.recording.marks)

    @property
    def rest(self) -> float | None:
        """Seconds until the next output, or None while paused or at the end."""
        if self.paused or self._next == len(self._times):
            return None
        return max(0.0, (self._times[self._next] - self.at) / self.speed)

    def advance(self, seconds: float) -> str:
        """Advance the time and return the output until then."""
        if self.paused:
            return ""
        return self._go(min(self.at + seconds * self.speed, self.recording.seconds))

    def seek(self, at: float) -> str:
        """Seek to a time in seconds and return the output that restores it."""
        at = min(max(at, 0.0), self.recording.seconds)
        if at >= self.at:
            return self._go(at)
        self._next = 0
        return CLEAR + self._go(at)

    def redraw(self) -> str:
        """Return the output that redraws the screen."""
        self._next = 0
        return CLEAR + self._go(self.at)

    def jump(self, step: int) -> str:
        """Jump to the next or previous mark, or by seconds in a recording without marks."""
        times = [mark.at for mark in self.recording.marks]
        if not times:
            return self.seek(self.at + step * JUMP)
        if step > 0:
            later = bisect_right(times, self.at)
            return self.seek(times[later] if later < len(times) else self.recording.seconds)
        earlier = bisect_left(times, self.at - NEAR) - 1
        return self.seek(times[earlier] if earlier >= 0 else 0.0)

    def faster(self, step: int) -> None:
        """Switch to the next or previous speed."""
        at = SPEEDS.index(self.speed) + step
        self.speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]

    def _go(self, at: float) -> str:
        end = bisect_right(self._times, at)
        events = self.recording.events[self._next : end]
        self._next, self.at = end, at
        return "".join(event.data for event in events if event.kind == "o")
