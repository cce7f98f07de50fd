"""Atomic file writes."""

import os
import tempfile
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make a folder's entries durable if the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Write a file atomically and sync it to disk, readable by its owner only; create its folder if
    missing.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes the file readable by its owner only.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".saving-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
