"""The journal of one process: an append-only file, locked for the life of the process."""

import asyncio
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedWriter
from pathlib import Path

from carrel.config.profiles import Profile
from carrel.store.core.problem import Problem
from carrel.store.journal.entries import Entry, Left, add_line, end_line, fail_line, read_lines
from carrel.system.atomic import sync_folder
from carrel.system.hashes import hashed_name
from carrel.system.locking import Locked, lock_file

logger = logging.getLogger(__name__)

_LINES = ".jsonl"


class Journal:
    """Stores this process's open work on disk, and takes over that of ended processes.

    Written lines survive a killed process, and after `secure` a power cut too. An unwritable disk
    stops no work; the next start then does not know of it. Use it from one thread.
    """

    def __init__(self, profile: Profile) -> None:
        service = f"{profile.storage_name}\0{profile.service}"
        self._folder = profile.folders.state / "journal" / hashed_name(service)
        self._path = self._folder / f"{os.getpid()}-{uuid.uuid4().hex[:12]}{_LINES}"
        self._lock: BufferedWriter | None = None
        self._file: BufferedWriter | None = None
        self._open: set[str] = set()
        self._unsynced = False
        self._failed = False

    def add(self, entry: Entry, instead: str | None = None) -> None:
        """Add an entry before its work begins, replacing the entry with the id `instead`."""
        self._open.discard(instead or "")
        self._open.add(entry.id)
        self._write(add_line(entry, instead))
        self._unsynced = True

    async def secure(self) -> None:
        """Wait until the entries are on disk. Entries added together share one sync."""
        if self._unsynced and self._file is not None:
            self._unsynced = False
            with self._log_failures():
                await asyncio.to_thread(os.fsync, self._file.fileno())

    def fail(self, entry_id: str, error: Problem) -> None:
        """Record the failure of an entry, which stays open until it is ended."""
        if entry_id in self._open:
            self._write(fail_line(entry_id, error))

    def end(self, entry_id: str) -> None:
        """Close an entry."""
        if entry_id in self._open:
            self._open.discard(entry_id)
            self._write(end_line(entry_id))
            if not self._open and self._file is not None:
                with self._log_failures():
                    self._file.truncate(0)

    def take_over(self) -> Left:
        """Move the open entries of ended processes into this journal under new ids."""
        left = Left()
        for path, found in self._find_ended():
            entries = tuple(_rename(entry) for entry in found.entries)
            for entry in entries:
                self.add(entry)
            if self._file is not None and entries:
                with self._log_failures():
                    os.fsync(self._file.fileno())
            # The old file goes last: a kill before this repeats entries, but loses none.
            path.unlink(missing_ok=True)
            left += Left(entries, found.begun)
        return left

    def look(self) -> Left:
        """Return the open entries of ended processes without taking them over."""
        left = Left()
        for _, found in self._find_ended():
            left += found
        return left

    def close(self) -> None:
        """Close the journal; the next start finds its open entries."""
        for file in (self._file, self._lock):
            if file is not None:
                file.close()
        if self._file is not None and not self._open:
            self._path.unlink(missing_ok=True)
            self._path.with_suffix(".lock").unlink(missing_ok=True)
        self._file = self._lock = None

    def _find_ended(self) -> Iterator[tuple[Path, Left]]:
        """Yield the journals of ended processes, each locked meanwhile."""
        for path in sorted(self._folder.glob(f"*{_LINES}")):
            if path == self._path:
                continue
            lock = path.with_suffix(".lock")
            try:
                held = lock_file(lock)
            except (Locked, OSError):
                continue
            with held:
                try:
                    text = path.read_text(encoding="utf-8", errors="replace")
                except OSError:  # another process was faster
                    text = ""
                yield path, read_lines(text.split("\n"))
            if not path.exists():
                lock.unlink(missing_ok=True)

    def _write(self, line: str) -> None:
        with self._log_failures():
            if self._file is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._lock = lock_file(self._path.with_suffix(".lock"))
                # In append mode, the line after a truncation goes to the file's beginning.
                descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                self._file = os.fdopen(descriptor, "ab")
                # A power cut must not lose the name of the file, either.
                sync_folder(self._folder)
            self._file.write(line.encode(errors="replace"))
            self._file.flush()

    @contextmanager
    def _log_failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self._failed:
                logger.warning("the journal in %s cannot be written: %s", self._folder, error)
            self._failed = True


def _rename(entry: Entry) -> Entry:
    return replace(entry, id=f"{entry.kind}-{uuid.uuid4().hex[:12]}")
