"""Threads for blocking calls of coroutines, cheaper than an executor."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

_Asked = tuple[asyncio.Future[Any], Callable[[], Any]]


class Threads:
    """A few threads that take turns with the work of one queue."""

    def __init__(self, count: int, name: str) -> None:
        self._asked = SimpleQueue[_Asked | None]()
        self._threads = [
            Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which is left out if the caller is cancelled before it."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._asked.put((future, work))
        return await future

    def close(self) -> None:
        """Wait for the work that was asked for, and end the threads."""
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while asked := self._asked.get():
            _answer(*asked)
            # While the thread waits, it keeps nothing alive.
            del asked


def _answer(future: asyncio.Future[Any], work: Callable[[], Any]) -> None:
    if future.cancelled():
        return
    result, failure = None, None
    try:
        result = work()
    except BaseException as error:
        failure = error
    # Where the loop has ended, nobody waits.
    with suppress(RuntimeError):
        future.get_loop().call_soon_threadsafe(_settle, future, result, failure)


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
