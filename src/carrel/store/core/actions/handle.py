"""A running action as seen from outside: awaited, asked or cancelled, from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Generator
from typing import Any, Generic, Literal, TypeVar, cast

from carrel.store.core.problem import Problem, ProblemError

T = TypeVar("T")
Outcome = Literal["running", "done", "failed", "cancelled"]


class Cancelled(asyncio.CancelledError):
    """The awaited action was cancelled, not the one who awaits it."""


class Handle(Generic[T]):
    """One call of an action.

    Awaiting it, or `result()`, gives what the action returned. It raises ProblemError when the
    action failed, and Cancelled when it was cancelled: a task that does not catch that ends as
    cancelled too.

    On the owner loop a call that is refused has failed by the time it returns; one that is
    still "running" was accepted.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.outcome: Outcome = "running"
        self.error: Problem | None = None
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._cancelled = False
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[Handle[T]], object]] = []
        self._future: concurrent.futures.Future[T | None] = concurrent.futures.Future()

    def start(self, begin: Callable[[], asyncio.Task[T] | T]) -> None:
        """Begin; called once, on the owner loop.

        It ends as the task does that `begin` starts; any other result, or an exception of
        `begin`, ends it at once.
        """
        if self._cancelled:
            self._settle("cancelled")
            return
        try:
            begun = begin()
        except asyncio.CancelledError:
            self._settle("cancelled")
        except Exception as error:
            self._fail(error)
        else:
            if isinstance(begun, asyncio.Task):
                self._task = begun
                begun.add_done_callback(self._finished)
            else:
                self._settle("done", begun)

    def refuse(self) -> None:
        """End it as cancelled: the owner loop is closed."""
        self._settle("cancelled")

    def done(self) -> bool:
        """Return whether it has ended."""
        return self._future.done()

    def cancel(self) -> None:
        """Ask it to stop; it ends as cancelled after it has cleaned up."""
        self._cancelled = True
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def check(self) -> Handle[T]:
        """Return the handle, unless it has failed already: as one that is refused.

        Raises:
            ProblemError: it has failed.
        """
        if self.error is not None:
            raise ProblemError(self.error)
        return self

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result. Not to be called on the owner loop, which it would block.

        Raises:
            TimeoutError: it did not end within `timeout` seconds.
            ProblemError: it failed.
            Cancelled: it was cancelled.
        """
        return self._result(self._future.result(timeout))

    async def settled(self) -> Outcome:
        """Wait for the end, and return how it ended; `error` has the problem of one that failed."""
        # Shielded: cancelling the waiter does not cancel the action.
        await asyncio.shield(asyncio.wrap_future(self._future))
        return self.outcome

    async def linked(self) -> T:
        """Wait for the result; a waiter that is cancelled cancels the action too.

        Raises:
            ProblemError: it failed.
            Cancelled: it was cancelled.
        """
        try:
            return await self
        except asyncio.CancelledError:
            self.cancel()
            await self.settled()
            raise

    def add_done_callback(self, callback: Callable[[Handle[T]], object]) -> None:
        """Call back on the owner loop when it ends, or at once when it has ended."""
        with self._lock:
            if not self._future.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def __await__(self) -> Generator[Any, None, T]:
        yield from self.settled().__await__()
        return self._result(self._future.result())

    def _result(self, result: T | None) -> T:
        if self.outcome == "cancelled":
            raise Cancelled
        self.check()
        return cast("T", result)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finished(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self._settle("cancelled")
            return
        error = task.exception()
        if error is None:
            self._settle("done", task.result())
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.error = Problem.of(error)
        self._settle("failed")

    def _settle(self, outcome: Outcome, result: T | None = None) -> None:
        self.outcome = outcome
        with self._lock:
            self._future.set_result(result)
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)
