"""Upload sources, and uploads that outlive a lost connection."""

import asyncio
from collections.abc import AsyncIterable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from carrel.client.http.errors import Unreachable
from carrel.store.activity.service import ActivityEntry
from carrel.store.core.actions.watch import until
from carrel.store.session.service import SessionService
from carrel.text import clean_text

T = TypeVar("T")

NOTICED = 2.0
"""Seconds in which the session notices a lost service; a later failure is the upload's own."""


async def retry_while_lost(
    session: SessionService, entry: ActivityEntry, send: Callable[[], Coroutine[Any, Any, T]]
) -> T:
    """Return the result of `send`; while the service is lost, wait for it and send again.

    A cut that was over before the session noticed it is tried again once.
    """
    tried_again = False
    while True:
        try:
            return await send()
        except Unreachable:
            was_lost = await _await_service(session, entry)
            if tried_again and not was_lost:
                raise
            tried_again = not was_lost


async def _await_service(session: SessionService, entry: ActivityEntry) -> bool:
    """Wait for a lost service; return whether it was lost."""
    session.check_connection()
    try:
        async with asyncio.timeout(NOTICED):
            await until(session.slice, lambda state: state.connection != "ready")
    except TimeoutError:
        return False
    entry.wait()
    await until(session.slice, lambda state: state.connection in ("ready", "failed"))
    return True


UploadSource: TypeAlias = Path | tuple[str, int, AsyncIterable[bytes]]
"""A local file, or a name, a size in bytes and a function that returns the bytes anew for a retry.
"""


def source_name(source: UploadSource) -> str:
    """Return the cleaned name of an upload."""
    return clean_text(source.name if isinstance(source, Path) else source[0])


def describe_upload(source: UploadSource, task: str) -> tuple[str, dict[str, Any]]:
    """Return an upload's journal entry: the name of its task, and its arguments.

    An upload without a local file cannot be repeated by the next start.
    """
    if isinstance(source, Path):
        return task, {"path": str(source.expanduser().absolute())}
    return "", {"bytes": source[1]}


def expand_home(source: UploadSource) -> UploadSource:
    """Return the source with `~` expanded."""
    return source.expanduser() if isinstance(source, Path) else source
