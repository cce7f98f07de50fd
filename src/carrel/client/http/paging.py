"""Complete lists of a service, across pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

PAGE = 100
"""Items per page."""


async def every(
    page: Callable[..., Awaitable[Any]], key: Callable[[T], object], **query: Any
) -> AsyncIterator[T]:
    """Yield the items of all pages, requested by number from 0; `key` identifies an item.

    A page is a list, or has a list as its `data`.
    """
    seen: set[object] = set()
    for number in count():
        answer = await page(page=number, page_size=PAGE, **query)
        items: Sequence[T] = getattr(answer, "data", answer)
        fresh = [item for item in items if key(item) not in seen]
        for item in fresh:
            seen.add(key(item))
            yield item
        # A service without paging answers the same list again.
        if len(items) < PAGE or not fresh:
            return
