"""What a demo needs at the server of this machine: made before its steps, removed after them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.config.profiles import LOCAL, folders
from carrel.store.chat.sessions.saved import SavedSessions
from carrel.store.demo import JOURNAL
from carrel.store.demo.journal import Journal
from carrel.store.demo.making import make, remove
from carrel.store.demo.script import Demo

if TYPE_CHECKING:
    from carrel.client import Client

Connect = Callable[[], AbstractAsyncContextManager["Client"]]
"""Connects to the server on which a demo plays."""


def local_journal() -> Journal:
    """Return the journal of what demos make on this machine."""
    return Journal(folders().state / JOURNAL)


@asynccontextmanager
async def connect_local(say: Callable[[str], None] = lambda _: None) -> AsyncIterator[Client]:
    """Yield a client of the server of this machine, which stays until the end.

    Start it if need be.
    """
    from carrel.client import Client
    from carrel.local import Lease, ensure

    address = await ensure(on_start=lambda: say("Starting the local server …"))
    async with Lease(address), Client(address.url, address.api_key) as client:
        yield client


@asynccontextmanager
async def set_up(
    demo: Demo, folder: Path, journal: Journal, connect: Connect, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Make what a demo needs, first removing what one that was killed has left.

    It is removed at the end, whatever happened. Paths are from `folder`; `say` is told before
    each part.

    Raises:
        ProblemError: a name is taken, there is no model, or a document cannot be processed.
        ClientError: the service did not make or remove something.
    """
    # This connection keeps the server between two runs of a face.
    async with connect() as client:
        await remove_left(journal, connect)
        try:
            async for words in make(client, demo, folder, journal):
                say(words)
            yield
        finally:
            await remove_left(journal, connect)


async def remove_left(journal: Journal, connect: Connect) -> None:
    """Remove what the journal lists, at the server as it runs now."""
    if journal.record is not None:
        async with connect() as client:
            await remove(client, journal, SavedSessions(folders().state, LOCAL))
