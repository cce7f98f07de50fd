"""A cache of the service's last answers: lists stay readable while the service is unreachable."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from carrel.client.http.errors import Unreachable
from carrel.config.profiles import Profile
from carrel.store.cache.copies import make_room
from carrel.store.core.problem import ProblemError
from carrel.store.session.service import SessionService
from carrel.system.hashes import hashed_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from carrel.client import Client

T = TypeVar("T")

LAST_SEEN_BYTES = 64 * 1024 * 1024
"""Size limit of a profile's answers in bytes; the least recently seen are evicted."""
WRITES = 100
"""Number of writes between two checks of the size."""


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """An answer. `as_of` is the time of a cached copy in seconds since 1970, or None for a fresh
    answer."""

    value: T
    as_of: float | None = None


class LastSeen:
    """The last answers of one profile's service, by key.

    Used only to show lists and texts: changes, syncs and scripts never work on a copy. Answers with
    keys or signed addresses are never cached here.
    """

    def __init__(self, profile: Profile, session: SessionService) -> None:
        self._session = session
        service = f"{profile.storage_name}\0{profile.service}"
        self._folder = profile.folders.cache / "seen" / hashed_name(service)
        self._digests: dict[Path, bytes] = {}
        self._until_look = 0

    async def ask(self, key: str, kind: Any, call: Callable[[Client], Awaitable[T]]) -> Seen[T]:
        """Return the service's answer, or its cached copy while the service is unreachable.

        `kind` is the answer's type for pydantic.

        Raises:
            ClientError: the service refused, or is unreachable and there is no copy.
            ProblemError: there is neither a connection nor a copy.
        """
        path = self._folder / f"{hashed_name(key)}.json"
        adapter = _adapter(kind)
        if self._session.offline and (kept := await asyncio.to_thread(_load, path, adapter)):
            return kept
        try:
            value = await call(await self._session.client())
        except (Unreachable, ProblemError):
            if self._session.refused:
                raise
            kept = await asyncio.to_thread(_load, path, adapter)
            if kept is None:
                raise
            self._session.check_connection()
            return kept
        with contextlib.suppress(OSError):  # a full disk must not empty a list
            await asyncio.to_thread(self._keep, path, adapter.dump_json(value))
        return Seen(value)

    def _keep(self, path: Path, content: bytes) -> None:
        digest = hashlib.sha256(content).digest()
        if self._digests.get(path) == digest:
            with contextlib.suppress(FileNotFoundError):
                os.utime(path)  # as current as now: evicted last
                return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Not synced to disk: losing a copy costs nothing. mkstemp makes it private.
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
        self._digests[path] = digest
        self._until_look -= 1
        if self._until_look < 0:
            self._until_look = WRITES
            make_room(path.parent, {path}, LAST_SEEN_BYTES)


def _load(path: Path, adapter: TypeAdapter[Any]) -> Seen[Any] | None:
    try:
        as_of = path.stat().st_mtime
        return Seen(adapter.validate_json(path.read_bytes()), as_of)
    except (OSError, ValueError):  # missing, or written by another version
        return None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
