"""Reception of files from a browser in ranges, two ahead.

No file is held whole in memory, and every message stays far below the websocket limit (a host
closes the connection above 10 MiB, some earlier).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from pydantic import BaseModel, Field

from carrel.store.activity.uploads import UploadSource
from carrel.store.core.problem import Problem, ProblemError
from carrel.text import clean_text

CHUNK = 1 << 20
"""Bytes per range."""

AHEAD = 2
"""Most ranges in transfer at a time."""

PATIENCE = 120.0
"""Timeout of a range in seconds; on some kernels ranges stall while a cell runs."""


class Offer(BaseModel):
    """A file offered by a view, identified there by `key`."""

    view: str
    key: str
    name: str
    size: int = Field(ge=0)


class BrowserFiles:
    """The files in transfer from a panel's views. Lives on the store's loop."""

    def __init__(self, send: Callable[[str | None, dict[str, Any]], None]) -> None:
        self._send = send
        self._waiting: dict[tuple[str, int], tuple[str, asyncio.Future[bytes]]] = {}
        self._gone: set[str] = set()

    def source(self, offer: Offer, *, keep: bool = False) -> UploadSource:
        """Return the offered file as an upload source, which can be read again.

        The view keeps the file until it was read whole; with `keep`, until `forget`.
        """
        return (clean_text(offer.name), offer.size, _Ranges(lambda: self._ranges(offer, keep)))

    def forget(self, offer: Offer) -> None:
        """Let the view drop a file."""
        self._send(offer.view, {"kind": "forget", "key": offer.key})

    def receive(self, key: str, offset: int, data: bytes, error: str | None) -> None:
        """Receive one range, or the browser's reason for not sending it."""
        _, future = self._waiting.pop((key, offset), (None, None))
        if future is None or future.done():
            return
        if error is None:
            future.set_result(data)
        else:
            future.set_exception(ProblemError(_upload_problem(error)))

    def resume_view(self, view: str) -> None:
        """Resume the files of a view that is back on the page: browsers keep left pages in
        memory."""
        self._gone.discard(view)

    def leave_view(self, view: str) -> None:
        """Cancel the uploads of a view that left the page."""
        self._gone.add(view)
        for owner, future in list(self._waiting.values()):
            if owner == view and not future.done():
                future.set_exception(ProblemError(_upload_problem("The page was closed.")))

    async def _ranges(self, offer: Offer, keep: bool) -> AsyncIterator[bytes]:
        asked: deque[tuple[int, asyncio.Future[bytes]]] = deque()
        offsets = iter(range(0, offer.size, CHUNK))
        try:
            while True:
                while len(asked) < AHEAD and (offset := next(offsets, None)) is not None:
                    asked.append((offset, self._ask(offer, offset)))
                if not asked:
                    break
                offset, future = asked.popleft()
                yield await _await_bytes(future, min(CHUNK, offer.size - offset))
        finally:
            for offset, future in asked:
                self._waiting.pop((offer.key, offset), None)
                if not future.cancel():
                    future.exception()  # expected: the first exception was reported
        if not keep:
            self.forget(offer)

    def _ask(self, offer: Offer, offset: int) -> asyncio.Future[bytes]:
        if offer.view in self._gone:
            raise ProblemError(_upload_problem("The page was closed."))
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[offer.key, offset] = (offer.view, future)
        length = min(CHUNK, offer.size - offset)
        self._send(
            offer.view, {"kind": "read", "key": offer.key, "offset": offset, "length": length}
        )
        return future


class _Ranges:
    """The bytes of a file; each reader starts at the beginning."""

    def __init__(self, begin: Callable[[], AsyncIterator[bytes]]) -> None:
        self._begin = begin

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._begin()


async def _await_bytes(future: asyncio.Future[bytes], size: int) -> bytes:
    try:
        async with asyncio.timeout(PATIENCE):  # Python 3.11's wait_for may swallow a cancellation
            data = await future
    except TimeoutError:
        raise ProblemError(_upload_problem("The page did not answer.")) from None
    if len(data) != size:
        raise ProblemError(_upload_problem("The file has changed."))
    return data


def _upload_problem(detail: str) -> Problem:
    return Problem("The upload stopped", detail, "Choose the file again.")
