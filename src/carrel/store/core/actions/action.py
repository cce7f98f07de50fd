"""Actions: the only code that awaits the client, each under a policy."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import S, Slice
from carrel.store.core.problem import Problem, ProblemError

P = ParamSpec("P")
T = TypeVar("T")

BUSY = Problem("Still busy with the last one", "This runs one at a time.", "Wait, then try again.")


class Policy(Enum):
    """Treatment of a call while an earlier one of its lane still runs."""

    LATEST = "latest"
    """The earlier one is cancelled."""
    JOIN = "join"
    """The new one joins the earlier one and ends with it."""
    RENEW = "renew"
    """The new one runs after the earlier one; calls waiting like this run once."""
    SINGLE = "single"
    """The new one is refused."""
    QUEUE = "queue"
    """The new one is queued."""
    BESIDE = "beside"
    """Both run at once."""


class Lane:
    """The calls of one lane of one service; lives on the owner loop.

    A call's exception ends as the ProblemError that `in_words` makes of it.
    """

    def __init__(self, in_words: Callable[[Exception], ProblemError]) -> None:
        self._in_words = in_words
        self._turns: list[_Turn] = []  # oldest first

    @property
    def busy(self) -> bool:
        """Whether a call runs or waits."""
        return bool(self._turns)

    @property
    def last(self) -> asyncio.Task[Any] | None:
        """The call that entered last, while it runs or waits."""
        return self._turns[-1].task if self._turns else None

    @property
    def others_wait(self) -> bool:
        """Whether a call waits for one that runs."""
        return len(self._turns) > 1

    def enter(
        self, policy: Policy, name: str, call: Callable[[], Coroutine[Any, Any, T]]
    ) -> asyncio.Task[T]:
        """Enter a call of the method `name`; its coroutine runs when the policy allows.

        Raises:
            ProblemError: the policy refuses it.
        """
        last = self._turns[-1] if self._turns else None
        if last is not None and policy is Policy.SINGLE:
            raise ProblemError(BUSY)
        if last is not None and (
            policy is Policy.JOIN
            or (policy is Policy.RENEW and last.name == name and not last.begun)
        ):
            return asyncio.create_task(_end_of(last.task))
        turn = _Turn(name, call())
        if policy is Policy.LATEST:
            self.cancel()
        turn.task = asyncio.create_task(self._run(turn, alone=policy is not Policy.BESIDE))
        turn.task.add_done_callback(lambda _: self._leave(turn))
        self._turns.append(turn)
        return turn.task

    def cancel(self) -> list[asyncio.Task[Any]]:
        """Cancel all running and queued calls, and return their tasks to await."""
        tasks = [turn.task for turn in self._turns]
        for task in tasks:
            # A second cancellation would break off the clean-up after the first.
            if not task.cancelling():
                task.cancel()
        return tasks

    async def _run(self, turn: _Turn, *, alone: bool) -> Any:
        # Even if cancelled: the old call must not write once the new one has begun.
        while alone and (earlier := self._before(turn)) is not None:
            await asyncio.wait([earlier.task])
        turn.begun = True
        try:
            return await turn.work
        except Exception as error:
            raise self._in_words(error) from error

    def _before(self, turn: _Turn) -> _Turn | None:
        """Return the call that entered last before this one, while any does."""
        before = None
        for one in self._turns:
            if one is turn:
                break
            before = one
        return before

    def _leave(self, turn: _Turn) -> None:
        self._turns.remove(turn)
        turn.work.close()  # cancelled before it began


class _Turn:
    """A call in a lane."""

    task: asyncio.Task[Any]

    def __init__(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        self.name = name
        self.work = work
        self.begun = False


async def _end_of(task: asyncio.Task[T]) -> T:
    return await asyncio.shield(task)


class Link(Protocol):
    """The connection to the profile's service, as actions know it."""

    def check_allowed(self) -> None:
        """Raise ProblemError where this profile must not change anything."""

    def check_connection(self) -> None:
        """Check the service now, because a request did not reach it."""


class Service(Generic[S]):
    """The actions of one area, and its slice, which only they write.

    With a `link` they ask the profile's service; without, they stay on this machine.
    """

    def __init__(self, loop: OwnerLoop, state: S, link: Link | None = None) -> None:
        self.slice = Slice(state)
        self._loop = loop
        self._link = link
        self._lanes: dict[str, Lane] = {}
        self._loads = 0
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it was closed: no further action begins."""
        return self._closed

    async def close(self) -> None:
        """Cancel all running and queued actions and wait for their end; no further one begins."""
        self._closed = True
        tasks = [task for lane in self._lanes.values() for task in lane.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def service_is_back(self) -> None:
        """Clear an error caused by the lost service."""
        error: Problem | None = getattr(self.slice.value, "error", None)
        if error is not None and error.lost:
            self.slice.set(error=None)

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Set `loading` in the slice while the block runs."""
        self._loads += 1
        self.slice.set(loading=True, error=None)
        try:
            yield
        finally:
            self._loads -= 1
            self.slice.set(loading=self._loads > 0)

    def _in_words(self, error: Exception) -> ProblemError:
        """Put a failure into the slice, and return it in words."""
        problem = Problem.of(error)
        self.slice.set(error=problem)
        if problem.lost and self._link is not None:
            self._link.check_connection()
        return ProblemError(problem)

    def _admit(self, call: Callable[[], T]) -> T:
        if self._closed:
            raise asyncio.CancelledError
        try:
            return call()
        except Exception as error:
            raise self._in_words(error) from error

    def _lane(self, name: str) -> Lane:
        return self._lanes.setdefault(name, Lane(self._in_words))


Sv = TypeVar("Sv", bound=Service[Any])
Body = Callable[Concatenate[Sv, P], Coroutine[Any, Any, T]]
Action = Callable[Concatenate[Sv, P], Handle[T]]


def action(
    policy: Policy, *, lane: str | None = None, changes: bool = False
) -> Callable[[Body[Sv, P, T]], Action[Sv, P, T]]:
    """Make a service's coroutine method an action.

    Calling it returns a Handle at once, from any thread. Every exception ends as a Problem in
    the slice and in the handle. Methods that share a `lane` share its policy's one place;
    one that `changes` what the service stores is refused for a read-only profile.

    The state may have changed by the time a coroutine runs. A method that works on what is
    chosen now is therefore a plain function: it takes that from the state when it is called
    (and refuses the call by raising ProblemError), and returns the coroutine that works on it.
    """

    def decorate(method: Body[Sv, P, T]) -> Action[Sv, P, T]:
        name = lane or method.__name__

        def start(service: Sv, /, *args: P.args, **kwargs: P.kwargs) -> Handle[T]:
            def begin() -> asyncio.Task[T]:
                if changes and service._link is not None:
                    service._link.check_allowed()
                return service._lane(name).enter(
                    policy, method.__name__, lambda: method(service, *args, **kwargs)
                )

            return service._loop.start(lambda: service._admit(begin))

        functools.update_wrapper(start, method)
        return start

    return decorate


def instant(method: Callable[Concatenate[Sv, P], T]) -> Action[Sv, P, T]:
    """Make a service's method an action that awaits nothing: on the owner loop it is done
    when the call returns."""

    def start(service: Sv, /, *args: P.args, **kwargs: P.kwargs) -> Handle[T]:
        call = functools.partial(method, service, *args, **kwargs)
        return service._loop.start(lambda: service._admit(call))

    functools.update_wrapper(start, method)
    return start
