"""Files by the bytes that they were uploaded from: a cell that runs again uploads nothing."""

from __future__ import annotations

import asyncio
import json

from carrel.config.profiles import folders
from carrel.system.atomic import write_private
from carrel.system.hashes import hashed_name

MOST = 2000
"""Files that are kept in mind; the oldest are forgotten."""


class Uploaded:
    """The uploads of one profile from this machine."""

    def __init__(self, profile: str) -> None:
        self._path = folders().cache / "uploaded" / f"{hashed_name(profile)}.json"

    async def find(self, digest: str, name: str) -> str | None:
        """Return the id of the file uploaded from bytes of this SHA-256 under this name, if any."""
        return (await asyncio.to_thread(self._load)).get(f"{digest} {name}")

    async def note(self, digest: str, name: str, file_id: str) -> None:
        """Note an upload."""
        await asyncio.to_thread(self._note, f"{digest} {name}", file_id)

    def _load(self) -> dict[str, str]:
        try:
            known = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _note(self, key: str, file_id: str) -> None:
        known = self._load()
        known.pop(key, None)
        known[key] = file_id
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(self._path, json.dumps(dict([*known.items()][-MOST:])))
