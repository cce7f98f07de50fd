"""A file lock that the system releases when its process ends."""

import sys
from io import BufferedWriter
from pathlib import Path


class Locked(Exception):
    """Another process holds the lock."""


def lock_file(path: Path) -> BufferedWriter:
    """Lock a file, creating it if missing; closing the result releases the lock.

    Raises:
        Locked: another process holds it.
    """
    file = path.open("ab")
    try:
        _lock(file.fileno())
    except OSError as error:
        file.close()
        raise Locked from error
    return file


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
