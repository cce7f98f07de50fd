"""Complete lists of a service, across pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from typing import TypeVar

T = TypeVar("T")

PAGE = 100
"""Items per page."""


async def every(
    page: Callable[[int], Awaitable[Sequence[T]]], key: Callable[[T], object]
) -> AsyncIterator[T]:
    """Yield the items of all pages, requested by number from 0; `key` identifies an item."""
    seen: set[object] = set()
    for number in count():
        items = await page(number)
        fresh = [item for item in items if key(item) not in seen]
        for item in fresh:
            seen.add(key(item))
            yield item
        # A service without paging answers the same list again.
        if len(items) < PAGE or not fresh:
            return
