"""Handles of running actions: await, inspect or cancel an action from any thread."""

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
    """The awaited action was cancelled, not the waiter."""


class Handle(Generic[T]):
    """One call of an action.

    Awaiting it, or `result()`, returns the action's result. Raises ProblemError if the action
    failed, and Cancelled if it was cancelled: a task that does not catch Cancelled ends as
    cancelled too.

    On the owner loop a refused call returns as a failed handle; a "running" one was accepted.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.outcome: Outcome = "running"
        self.error: Problem | None = None
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._cancelled = False
        # A callback that another thread adds at the end must be called, too.
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[Handle[T]], object]] = []
        # A future of `concurrent.futures`: any thread may wait for it, not only the loop's.
        self._future: concurrent.futures.Future[T | None] = concurrent.futures.Future()

    def start(self, begin: Callable[[], asyncio.Task[T] | T]) -> None:
        """Begin the call; called once, on the owner loop.

        The handle ends with the task that `begin` returns; any other result, or an exception of
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
                begun.add_done_callback(self._on_end)
            else:
                self._settle("done", begun)

    def refuse(self) -> None:
        """End the handle as cancelled, because the owner loop is closed."""
        self._settle("cancelled")

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._future.done()

    def cancel(self) -> None:
        """Cancel the action; the handle ends after the action's clean-up."""
        self._cancelled = True
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def check(self) -> Handle[T]:
        """Return the handle itself, or raise the problem of a refused call.

        Raises:
            ProblemError: the call has failed already.
        """
        if self.error is not None:
            raise ProblemError(self.error)
        return self

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result. Must not be called on the owner loop, which it would block.

        Raises:
            TimeoutError: the action did not end within `timeout` seconds.
            ProblemError: the action failed.
            Cancelled: the action was cancelled.
        """
        return self._result(self._future.result(timeout))

    async def settled(self) -> Outcome:
        """Wait for the end and return the outcome; a failure's problem is in `error`."""
        # Shielded: cancelling the waiter does not cancel the action.
        await asyncio.shield(asyncio.wrap_future(self._future))
        return self.outcome

    async def linked(self) -> T:
        """Wait for the result; cancelling the waiter cancels the action too.

        Raises:
            ProblemError: the action failed.
            Cancelled: the action was cancelled.
        """
        try:
            return await self
        except asyncio.CancelledError:
            self.cancel()
            await self.settled()
            raise

    def add_done_callback(self, callback: Callable[[Handle[T]], object]) -> None:
        """Call a function on the owner loop at the action's end, at once if it has ended."""
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

    def _on_end(self, task: asyncio.Task[T]) -> None:
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
