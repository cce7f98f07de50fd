"""The base of the client's areas, and lists read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from typing import Any, TypeVar, Unpack

from carrel.client.http.transport import Options, Transport, path_of

T = TypeVar("T")

PAGE = 100
"""Items per page."""


class Area:
    """An area of the interface: its methods are requests through the client's transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(
        self, answer: type[T], method: str, path: str, *ids: str | int, **options: Unpack[Options]
    ) -> T:
        """Send a request with ids filled into its path; return the answer."""
        return await self._transport.call(answer, method, path_of(path, *ids), **options)

    async def _send(
        self, method: str, path: str, *ids: str | int, **options: Unpack[Options]
    ) -> None:
        """Send a request and discard the answer."""
        await self._transport.send(method, path_of(path, *ids), **options)


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
