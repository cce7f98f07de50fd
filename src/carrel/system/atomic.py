"""Atomic file writes."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

from carrel.system.hashes import hashed_name
from carrel.system.locking import Locked, lock_file


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """Open a partial file, which replaces the file at `path` if the block ends without an error.

    Raises:
        OSError: the file cannot be written.
    """
    # After a kill the next writer finds the partial file again: none accumulate.
    part = path.with_name(f".{hashed_name(path.name)}.part")
    try:
        file = lock_file(part)
    except Locked:  # another process writes to the same path
        part = part.with_stem(f"{part.stem}-{secrets.token_hex(8)}")
        file = lock_file(part)
    try:
        with file:
            file.truncate(0)
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


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
