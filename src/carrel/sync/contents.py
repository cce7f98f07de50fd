"""Content hashes of a folder's files; only changed files are read."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from carrel.sync.scan import Scan, Stat, parts_of
from carrel.system.hashes import sha256

SETTLED = 1.0
"""Seconds without a change before a file counts as completely written."""

PATIENCE = 30.0
"""Timeout in seconds for a file that is still being written."""

READERS = 4
"""Number of files read concurrently."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file's hash, with the size and times it had then."""

    stat: Stat
    hash: str


@dataclass
class Contents:
    """The folder's files with their contents by path, and the problems of unreadable ones.

    An unreadable path keeps its last known content.
    """

    files: dict[str, Content] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def hashes(self) -> dict[str, str]:
        return {path: content.hash for path, content in self.files.items()}

    def problem(self, path: str) -> str | None:
        """Return the reason why a path's content is unknown, or None."""
        return next((self.problems[each] for each in parts_of(path) if each in self.problems), None)


async def read_contents(
    folder: Path,
    found: Scan,
    before: Mapping[str, Content],
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Contents:
    """Read the contents of the found files, unless `before` has them with equal size and times.

    `report` is called with the number of read files and their total.
    """
    contents = Contents(problems=dict(found.problems))
    changed = []
    for path, stat in found.files.items():
        known = before.get(path)
        if known is not None and known.stat == stat:
            contents.files[path] = known
        else:
            changed.append(path)
    done = 0
    queue = iter(changed)

    async def read() -> None:
        nonlocal done
        for path in queue:
            try:
                content = await _read_settled(folder / path)
            except FileNotFoundError:
                content = None  # deleted meanwhile
            except TimeoutError as error:
                content = None
                contents.problems[path] = str(error)
            except OSError as error:
                content = None
                contents.problems[path] = f"It cannot be read: {error.strerror}."
            # The file was emptied since the scan, which leaves empty files out.
            if content is not None and content.stat.size:
                contents.files[path] = content
            done += 1
            report(done, len(changed))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(READERS, len(changed))):
            group.create_task(read())
    if contents.problems:
        for path, content in before.items():
            if path not in contents.files and contents.problem(path) and not found.reason(path):
                contents.files[path] = content
    return contents


async def _read_settled(path: Path) -> Content:
    """Return a file's content, read after it stopped changing."""
    deadline = time.monotonic() + PATIENCE
    while True:
        content = await asyncio.to_thread(_read, path)
        if content is not None:
            return content
        if time.monotonic() > deadline:
            raise TimeoutError("It is still being written.")
        await asyncio.sleep(SETTLED / 4)


def _read(path: Path) -> Content | None:
    """Return a file's content, or None if the file changed just before or during the read."""
    before = path.stat()
    if abs(time.time() - before.st_mtime) < SETTLED:
        return None
    digest, after = sha256(path), Stat.of(path.stat())
    return Content(after, digest) if after == Stat.of(before) else None
