"""Cancels work whose caller has disconnected."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, which is cancelled when the caller disconnects.

    The request's body must have been read before.

    Raises:
        ClientDisconnect: the caller disconnected.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_await_disconnect(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return await task
    finally:
        for unfinished in (task, watch):
            unfinished.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await unfinished


async def _await_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
