"""Records a session as it runs."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from carrel.recording.asciicast import Drawing, Event, Kind, event_line, header_line


class Recorder:
    """Writes each event to the file at once, so that nothing is lost however the process ends.

    A failed write, as on a full disk, ends only the recording. `failed` is the error, and
    `on_failure` is called with it once.
    """

    def __init__(self, path: Path, width: int, height: int, title: str = "") -> None:
        """Begin a recording of a window of `width` × `height` cells; time starts with the first
        event.

        Raises:
            OSError: the file exists already, or cannot be created.
        """
        self.path = path
        self.failed: OSError | None = None
        self.on_failure: Callable[[OSError], object] | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        self._whole = 0
        self._size = (width, height)
        self._began: float | None = None
        self._drawing = Drawing()
        self._open = True
        self._write(header_line(width, height, title, int(time.time())))
        if self.failed is not None:
            raise self.failed

    def output(self, text: str) -> None:
        """Record the drawing part of terminal output."""
        if drawn := self._drawing.of(text):
            self._add("o", drawn)

    def resize(self, width: int, height: int) -> None:
        """Record a resize of the window."""
        if (width, height) != self._size:
            self._size = (width, height)
            self._add("r", f"{width}x{height}")

    def mark(self, label: str) -> None:
        """Mark the beginning of a step."""
        self._add("m", label)

    def close(self) -> None:
        """End the recording."""
        if self._open:
            self._open = False
            os.close(self._file)

    def _add(self, kind: Kind, data: str) -> None:
        now = time.monotonic()
        self._began = self._began or now
        self._write(event_line(Event(now - self._began, kind, data)))

    def _write(self, line: str) -> None:
        if not self._open:
            return
        data = memoryview(line.encode("ascii"))
        try:
            while data:
                data = data[os.write(self._file, data) :]
            self._whole += len(line)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failed = OSError(error.errno, error.strerror, str(self.path))
        self._open = False
        try:
            # Remove a truncated last line.
            os.ftruncate(self._file, self._whole)
        except OSError:
            pass
        finally:
            os.close(self._file)
        if self.on_failure is not None:
            self.on_failure(self.failed)


def failure_words(error: OSError) -> tuple[str, str]:
    """Return a title and the next step for a recording that ended early."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    title = "The disk is full: the recording has ended" if full else "The recording has ended"
    return title, f"Everything up to here is in {error.filename}."


_BINARY = getattr(os, "O_BINARY", 0)
