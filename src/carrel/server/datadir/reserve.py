"""Disk space that only a delete may use: on a full disk, a delete has to write before it frees."""

import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

RESERVE_BYTES = 16 * 2**20
_ROOM_LEFT = 4
"""Times its size that must be free for it to be taken."""


class DiskReserve:
    """A file of a data folder that is removed when a delete finds the disk full."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self) -> None:
        """Reserve the space unless it is reserved or the disk is nearly full. Blocking."""
        free = shutil.disk_usage(self._path.parent).free
        if self._path.exists() or free < RESERVE_BYTES * _ROOM_LEFT:
            return
        try:
            with self._path.open("xb") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
                else:
                    file.write(bytes(RESERVE_BYTES))
        except OSError:
            self.release()

    def release(self) -> bool:
        """Free the space; return whether any was reserved."""
        with suppress(OSError):
            self._path.unlink()
            log.warning("the disk is full: a delete uses the reserve of %d bytes", RESERVE_BYTES)
            return True
        return False
