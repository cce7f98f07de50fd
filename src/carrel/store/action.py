"""Actions: the only code that awaits the client, each under a policy."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from carrel.store.handle import Handle
from carrel.store.loop import OwnerLoop
from carrel.store.problem import Problem, ProblemError
from carrel.store.slice import S, Slice

P = ParamSpec("P")
T = TypeVar("T")

BUSY = Problem("Still busy with the last one", "This runs one at a time.", "Wait, then try again.")


class Policy(Enum):
    """What happens to a call while an earlier one of the same lane still runs."""

    LATEST = "latest"
    """The earlier one is cancelled."""
    SINGLE = "single"
    """The new one is refused."""
    QUEUE = "queue"
    """The new one waits for its turn."""
    BESIDE = "beside"
    """Both run."""


class Lane:
    """The calls of one lane of one service; lives on the owner loop."""

    def __init__(self) -> None:
        self._last: asyncio.Future[None] | None = None
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, policy: Policy, body: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs `body` when the policy lets it."""
        before, mine = self._last, asyncio.get_running_loop().create_future()
        if before is not None and not before.done():
            if policy is Policy.SINGLE:
                raise ProblemError(BUSY)
            if policy is Policy.LATEST:
                self.cancel()
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        self._last = mine
        try:
            if before is not None and policy is not Policy.BESIDE:
                # Also after a cancellation: the old one must not write after the new one began.
                await asyncio.shield(before)
            return await body()
        finally:
            self._running.discard(task)
            if before is not None and not before.done():
                # Cancelled while it waited: whoever comes next waits for the same one.
                before.add_done_callback(lambda _: mine.set_result(None))
            else:
                mine.set_result(None)

    def cancel(self) -> list[asyncio.Task[Any]]:
        """Cancels everything that runs or waits, and gives it to be waited for."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        return tasks


class Service(Generic[S]):
    """The actions of one area and the slice that only they write."""

    def __init__(self, loop: OwnerLoop, state: S) -> None:
        self.slice = Slice(state)
        self._loop = loop
        self._lanes: dict[str, Lane] = {}
        self._closed = False

    async def close(self) -> None:
        """Cancels every action that runs or waits, and waits for their end; no other begins."""
        self._closed = True
        tasks = [task for lane in self._lanes.values() for task in lane.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _check_allowed(self) -> None:
        """Raises ProblemError where this profile must not change anything."""

    def _failed(self, error: Exception) -> Problem:
        """Puts a failure into the slice."""
        problem = Problem.of(error)
        self.slice.set(error=problem)
        return problem

    def _lane(self, name: str) -> Lane:
        return self._lanes.setdefault(name, Lane())


Sv = TypeVar("Sv", bound=Service[Any])
Body = Callable[Concatenate[Sv, P], Coroutine[Any, Any, T]]
Action = Callable[Concatenate[Sv, P], Handle[T]]


def action(
    policy: Policy, *, lane: str | None = None, changes: bool = False
) -> Callable[[Body[Sv, P, T]], Action[Sv, P, T]]:
    """Makes a service's coroutine method an action.

    Calling it returns a Handle at once, from any thread. Whatever it raises ends as a Problem in
    the slice and in the handle. Methods that share a `lane` share its policy's one place;
    one that `changes` what the service stores is refused for a read-only profile.
    """

    def decorate(method: Body[Sv, P, T]) -> Action[Sv, P, T]:
        name = lane or method.__name__

        async def run(service: Sv, *args: P.args, **kwargs: P.kwargs) -> T:
            if service._closed:
                raise asyncio.CancelledError
            try:
                if changes:
                    service._check_allowed()
                return await service._lane(name).run(
                    policy, lambda: method(service, *args, **kwargs)
                )
            except Exception as error:
                raise ProblemError(service._failed(error)) from None

        def start(service: Sv, /, *args: P.args, **kwargs: P.kwargs) -> Handle[T]:
            return service._loop.run(run(service, *args, **kwargs))

        functools.update_wrapper(start, method)
        return start

    return decorate
