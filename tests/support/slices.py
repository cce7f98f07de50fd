"""Waiting for the state to come about."""

import asyncio
from collections.abc import Callable

from carrel.store.core.actions.slice import S, Slice


async def until(slice: Slice[S], condition: Callable[[S], bool], seconds: float = 30) -> S:
    """Waits for a slice to come into a state, and gives that state."""
    reached = asyncio.Event()

    def look(new: S, old: S) -> None:
        if condition(new):
            reached.set()

    slice.changed.connect(look)
    try:
        if not condition(slice.value):
            async with asyncio.timeout(seconds):
                await reached.wait()
    except TimeoutError:
        raise AssertionError(f"never came true; it is {slice.value}") from None
    finally:
        slice.changed.disconnect(look)
    return slice.value
