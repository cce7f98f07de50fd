"""Whole lists of a service, however many pages they have."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from typing import TypeVar

T = TypeVar("T")

PAGE = 100
"""How many things a page has."""


async def every(
    page: Callable[[int], Awaitable[Sequence[T]]], key: Callable[[T], object]
) -> AsyncIterator[T]:
    """What all pages have, each page asked for by its number from 0; `key` tells things apart."""
    seen: set[object] = set()
    for number in count():
        items = await page(number)
        fresh = [item for item in items if key(item) not in seen]
        for item in fresh:
            seen.add(key(item))
            yield item
        # A service that knows no pages answers the same list again.
        if len(items) < PAGE or not fresh:
            return
