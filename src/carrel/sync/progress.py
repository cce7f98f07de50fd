"""Progress and results of a sync."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from carrel.client.http.errors import ClientError
from carrel.sync.plan import Plan
from carrel.sync.remote import is_hopeless

PERIOD = 0.1
"""Seconds between two reports."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that was not synced, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file in transfer: bytes sent and in total."""

    path: str
    sent: int
    size: int


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """The progress of a sync.

    During the scan, `files` of `of_files` changed files were read. `bytes` of `of_bytes` count the
    files to upload.
    """

    phase: Literal["looking", "syncing"] = "looking"
    files: int = 0
    of_files: int = 0
    bytes: int = 0
    of_bytes: int = 0
    transfers: tuple[Transfer, ...] = ()

    @property
    def reached(self) -> tuple[int, int]:
        """The numbers of done and total files; (0, 0) during the comparison."""
        return (self.files, self.of_files) if self.phase == "syncing" else (0, 0)


@dataclass(frozen=True, slots=True)
class Preview:
    """The changes that a sync would make.

    `sizes` are bytes of the files to upload, by path. `present` are paths whose content is in the
    library already, though not from this folder. `left_out` maps each excluded path to its reason;
    a folder's path ends with a slash. `beside` are paths to upload whose name another document has,
    one that the folder did not bring and that stays.
    """

    plan: Plan
    present: tuple[str, ...]
    sizes: dict[str, int]
    failures: tuple[Failure, ...]
    files: int
    left_out: dict[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()

    @property
    def bytes(self) -> int:
        """Total bytes to upload."""
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a sync.

    `kept` documents stay though their files were deleted. `found` files were in the library
    already, though not from this folder. `left_out` documents stay because a rule excludes their
    files; `held` ones until their deletion is confirmed.
    """

    files: int = 0
    found: int = 0
    uploaded: int = 0
    updated: int = 0
    renamed: int = 0
    deleted: int = 0
    kept: int = 0
    left_out: int = 0
    held: int = 0
    bytes: int = 0
    failures: tuple[Failure, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the sync changed the library."""
        return bool(self.uploaded or self.updated or self.renamed or self.deleted)


Report = Callable[[SyncProgress], object]


class Tally:
    """Counts the changes of one sync and reports them a few times a second."""

    def __init__(self, plan: Plan, sizes: dict[str, int], report: Report) -> None:
        self.found = self.uploaded = self.updated = self.renamed = self.deleted = 0
        self.failures: list[Failure] = []
        self.bytes = 0
        self._done = 0
        self._of_files = len(plan.renames) + len(plan.uploads) + len(plan.removals)
        self._of_bytes = sum(sizes.values())
        self._transfers: dict[str, Transfer] = {}
        self._report = report
        self._next = 0.0

    @property
    def reached(self) -> tuple[int, int]:
        """The numbers of done and total files."""
        return self._done, self._of_files

    @contextmanager
    def attempt(self, path: str) -> Iterator[None]:
        """Count one file; record its failure, or raise it if every other file would fail too."""
        try:
            yield
        except (ClientError, OSError) as error:
            if is_hopeless(error):
                raise
            self.failures.append(Failure(path, str(error)))
        self._done += 1
        self.report(last=self._done == self._of_files)

    @contextmanager
    def transfer(self, path: str, size: int) -> Iterator[Callable[[int, int | None], None]]:
        """Track a file's transfer for the duration of the block."""

        def on_progress(sent: int, total: int | None) -> None:
            self._transfers[path] = Transfer(path, sent, size)
            self.report()

        on_progress(0, size)
        try:
            yield on_progress
        finally:
            del self._transfers[path]
        self.bytes += size

    def report(self, last: bool = False) -> None:
        """Report the progress, at most once per PERIOD unless it is the last report."""
        now = time.monotonic()
        if now < self._next and not last:
            return
        self._next = now + PERIOD
        transfers = tuple(self._transfers.values())
        sent = self.bytes + sum(transfer.sent for transfer in transfers)
        self._report(
            SyncProgress("syncing", self._done, self._of_files, sent, self._of_bytes, transfers)
        )
