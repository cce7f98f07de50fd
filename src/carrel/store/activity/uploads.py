"""Uploads that outlive a lost connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from carrel.store.core.watch import until

if TYPE_CHECKING:
    from carrel.client.errors import Unreachable
    from carrel.store.activity.service import Entry
    from carrel.store.session.service import SessionService

T = TypeVar("T")

NOTICED = 2.0
"""Seconds in which a lost service is noticed; one that answers all the same refused this upload."""


async def through(
    session: SessionService, entry: Entry, send: Callable[[], Coroutine[Any, Any, T]]
) -> T:
    """What `send` gives. While the service is lost it waits, and is sent anew when it is back."""
    from carrel.client.errors import Unreachable

    while True:
        try:
            return await send()
        except Unreachable as error:
            await _until_back(session, entry, error)


async def _until_back(session: SessionService, entry: Entry, error: Unreachable) -> None:
    session.doubt()
    try:
        async with asyncio.timeout(NOTICED):
            await until(session.slice, lambda state: state.connection != "ready")
    except TimeoutError:
        raise error from None
    entry.wait()
    await until(session.slice, lambda state: state.connection in ("ready", "failed"))
