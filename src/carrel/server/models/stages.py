"""Progress of an answer before its first chunk."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from carrel.wire.generation.completions import Progress

Tell = Callable[[Progress], None]


def tell_nobody(progress: Progress) -> None:
    """Discard the progress of an answer whose caller did not ask for it."""


class Stages:
    """Holds the newest step only; unread older ones are dropped."""

    def __init__(self) -> None:
        self._newest: Progress | None = None
        self._news = asyncio.Event()

    def tell(self, progress: Progress) -> None:
        """Take in a step."""
        if progress != self._newest:
            self._newest = progress
            self._news.set()

    async def follow(self, end: asyncio.Future[Any]) -> AsyncGenerator[Progress]:
        """Yield the steps as they come, until `end` is done."""
        while not end.done():
            news = asyncio.ensure_future(self._news.wait())
            try:
                await asyncio.wait({end, news}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            if self._news.is_set() and self._newest is not None and not end.done():
                self._news.clear()
                yield self._newest
