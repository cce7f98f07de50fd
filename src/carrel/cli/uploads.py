"""The uploads of a command in the journal: what a cut leaves is resumed by `carrel resume`."""

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from carrel.cli import output
from carrel.client.http.errors import Unreachable
from carrel.config.profiles import Profile
from carrel.store.activity.formatting import count_left
from carrel.store.journal.entries import Entry
from carrel.store.journal.journal import Journal

T = TypeVar("T")


def tell_left(profile: Profile) -> None:
    """Say what earlier runs left, if anything."""
    left = Journal(profile).look()
    kinds = Counter(entry.kind for entry in left.entries if entry.error is None and entry.task)
    if words := count_left(kinds, left.begun):
        output.note(f"{words} by an earlier run: carrel resume sends the rest.")


class Uploads:
    """Files that one command uploads, in the journal until each is sent.

    `task` of the journal repeats one, with `needs` beside its path.
    """

    def __init__(self, profile: Profile, paths: Sequence[Path], task: str, **needs: object) -> None:
        self._profile = profile
        self._journal = Journal(profile)
        self._paths = paths
        self._waiting = {path: uuid.uuid4().hex for path in paths}
        self._number = len(self._waiting)
        self._task = task
        self._needs = needs

    def __enter__(self) -> Self:
        tell_left(self._profile)
        for path, id in self._waiting.items():
            needs = {"path": str(path.expanduser().absolute()), **self._needs}
            self._journal.add(Entry(id, "upload", path.name, task=self._task, needs=needs))
        return self

    async def send(self, upload: Callable[..., Awaitable[T]]) -> AsyncIterator[T]:
        """Upload the files in turn, once all of them are in the journal on the disk.

        A file leaves the journal when it is sent or has failed; not if it is cut off.
        """
        await self._journal.secure()
        for path in self._paths:
            try:
                with output.progress(f"Uploading {path.name}") as report:
                    sent = await upload(path, on_progress=report)
            except Unreachable:
                raise
            except Exception:
                self._end(path)
                raise
            self._end(path)
            yield sent

    def _end(self, path: Path) -> None:
        if (id := self._waiting.pop(path, None)) is not None:
            self._journal.end(id)

    def __exit__(self, *_: object) -> None:
        if self._number == 1:  # a user who interrupts a single upload does not want it
            self._end(self._paths[0])
        self._journal.close()
        if self._waiting:
            sent = self._number - len(self._waiting)
            output.note(f"Stopped at {sent} of {output.counted(self._number, 'upload')}.")
            output.note("carrel resume sends the rest; carrel resume --drop forgets it.")
