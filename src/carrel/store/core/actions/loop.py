"""The owner loop: every action runs on it and changes the state there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from carrel.store.core.actions.handle import Handle

T = TypeVar("T")


class OwnerLoop:
    """An asyncio loop that accepts work from any thread."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, thread: threading.Thread | None = None
    ) -> None:
        self._loop = loop
        self._thread = thread

    @classmethod
    def running(cls) -> OwnerLoop:
        """Wrap the loop that is running now: the terminal app's, or a test's."""
        return cls(asyncio.get_running_loop())

    @classmethod
    def in_thread(cls) -> OwnerLoop:
        """Start a loop in its own thread, for hosts with callbacks on any thread."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="carrel-store", daemon=True)
        thread.start()
        return cls(loop, thread)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> Handle[T]:
        """Start a coroutine on the loop, from any thread."""
        begin: Callable[[], asyncio.Task[T] | T] = lambda: self._loop.create_task(coroutine)  # noqa: E731
        handle = self.start(begin)
        # Avoids a “never awaited” warning if the coroutine never began.
        handle.add_done_callback(lambda _: coroutine.close())
        return handle

    def start(self, begin: Callable[[], asyncio.Task[T] | T]) -> Handle[T]:
        """Call a function on the loop, from any thread: at once on the loop's thread, else soon.

        The handle ends with the task that the function returns, else with its result.
        """
        handle: Handle[T] = Handle(self._loop)
        try:
            self.call(lambda: handle.start(begin))
        except RuntimeError:  # the loop is closed
            handle.refuse()
        return handle

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the loop: at once on the loop's thread, else soon.

        Raises:
            RuntimeError: the loop is closed.
        """
        if self._is_here():
            function()
        else:
            self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """Cancel running calls and stop the loop's own thread. A borrowed loop goes on."""
        if self._thread is None or self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def closed(self) -> bool:
        """Whether the loop is closed."""
        return self._loop.is_closed()

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
