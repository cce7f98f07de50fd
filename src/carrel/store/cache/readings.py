"""The reading progress of each document, for lists of later runs."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from carrel.config.profiles import Profile
from carrel.store.cache.results import results_file
from carrel.system.atomic import write_private
from carrel.system.hashes import hashed_name
from carrel.system.jsonl import append_line, read_lines

MOST = 5000
"""Number of lines from which a profile's file is compacted to one line a document."""


@dataclass(frozen=True, slots=True)
class PagesRead:
    """The number of pages read of a document, and its total."""

    read: int
    total: int


class Readings:
    """The local readings of one profile. Other workbenches may append to them."""

    def __init__(self, profile: Profile) -> None:
        self._cache = profile.folders.cache
        self._path = self._cache / "readings" / f"{hashed_name(profile.storage_name)}.jsonl"

    async def note(self, source_id: str, key: str, reading: PagesRead) -> None:
        """Save the reading progress of a document whose pages are in `ResultCache` under `key`."""
        await asyncio.to_thread(self._note, source_id, key, reading)

    async def load(self) -> Mapping[str, PagesRead]:
        """Return the readings by document id, without documents whose pages were evicted."""
        return await asyncio.to_thread(self._load)

    def _note(self, source_id: str, key: str, reading: PagesRead) -> None:
        line = [source_id, results_file(self._cache, key).name, reading.read, reading.total]
        append_line(self._path, line)

    def _load(self) -> Mapping[str, PagesRead]:
        lines = [*read_lines(self._path)]
        newest: dict[str, tuple[str, PagesRead]] = {}
        for line in lines:
            try:
                source_id, name, read, total = line
                newest[source_id] = (name, PagesRead(int(read), int(total)))
            except (ValueError, TypeError):
                continue  # written by another version
        if len(lines) > MOST:
            self._rewrite(newest)
        kept = _names(results_file(self._cache, "").parent)
        return {id: reading for id, (name, reading) in newest.items() if name in kept}

    def _rewrite(self, newest: Mapping[str, tuple[str, PagesRead]]) -> None:
        rows = ([id, name, each.read, each.total] for id, (name, each) in newest.items())
        write_private(self._path, "".join(f"\n{json.dumps(row)}" for row in rows))


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(path.name for path in folder.iterdir())
    except OSError:
        return frozenset()
