"""Actions: the only code that awaits the client, each under a concurrency policy."""

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
    """Treatment of a call while an earlier call in its lane is running."""

    LATEST = "latest"
    """Cancel the earlier call."""
    JOIN = "join"
    """Join the earlier call and share its end."""
    RENEW = "renew"
    """Run after the earlier call; waiting calls are merged into one."""
    SINGLE = "single"
    """Refuse the new call."""
    QUEUE = "queue"
    """Queue the new call."""
    BESIDE = "beside"
    """Run both at once."""


class Lane:
    """The calls of one lane of one service; lives on the owner loop.

    `convert` converts a call's exception to the ProblemError with which the call ends.
    """

    def __init__(self, convert: Callable[[Exception], ProblemError]) -> None:
        self._convert = convert
        self._turns: list[_Turn] = []  # oldest first

    @property
    def busy(self) -> bool:
        """Whether a call is running or waiting."""
        return bool(self._turns)

    @property
    def last(self) -> asyncio.Task[Any] | None:
        """The latest call that is running or waiting, or None."""
        return self._turns[-1].task if self._turns else None

    def enter(
        self, policy: Policy, name: str, call: Callable[[], Coroutine[Any, Any, T]]
    ) -> asyncio.Task[T]:
        """Enter a call of the method `name`; its coroutine runs once the policy allows it.

        Raises:
            ProblemError: the policy refuses the call.
        """
        last = self._turns[-1] if self._turns else None
        if last is not None and policy is Policy.SINGLE:
            raise ProblemError(BUSY)
        if last is not None and (
            policy is Policy.JOIN
            or (policy is Policy.RENEW and last.name == name and not last.begun)
        ):
            return asyncio.create_task(_join(last.task))
        turn = _Turn(name, call())
        if policy is Policy.LATEST:
            self.cancel()
        turn.task = asyncio.create_task(self._run(turn, alone=policy is not Policy.BESIDE))
        turn.task.add_done_callback(lambda _: self._leave(turn))
        self._turns.append(turn)
        return turn.task

    def cancel(self) -> list[asyncio.Task[Any]]:
        """Cancel all running and queued calls; return their tasks for awaiting."""
        tasks = [turn.task for turn in self._turns]
        for task in tasks:
            # A second cancellation would interrupt the clean-up after the first.
            if not task.cancelling():
                task.cancel()
        return tasks

    async def _run(self, turn: _Turn, *, alone: bool) -> Any:
        # Even if cancelled: the old call must not write after the new one begins.
        while alone and (earlier := self._find_earlier(turn)) is not None:
            await asyncio.wait([earlier.task])
        turn.begun = True
        try:
            return await turn.work
        except Exception as error:
            raise self._convert(error) from error

    def _find_earlier(self, turn: _Turn) -> _Turn | None:
        """Return the latest unfinished call that entered before this one, or None."""
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


async def _join(task: asyncio.Task[T]) -> T:
    # A cancelled caller must not cancel the call that others share.
    return await asyncio.shield(task)


class Link(Protocol):
    """The connection to the profile's service, as actions see it."""

    def check_allowed(self) -> None:
        """Raise ProblemError if the profile is read-only."""

    def check_connection(self) -> None:
        """Check the connection now, after a request that did not reach the service."""


Sv = TypeVar("Sv", bound="Service[Any]")
Body = Callable[Concatenate[Sv, P], Coroutine[Any, Any, T]]
Action = Callable[Concatenate[Sv, P], Handle[T]]


def action(
    policy: Policy, *, lane: str | None = None, changes: bool = False
) -> Callable[[Body[Sv, P, T]], Action[Sv, P, T]]:
    """Turn a service's coroutine method into an action.

    Calling it returns a Handle at once, from any thread. Every exception ends as a Problem in the
    slice and in the handle. Methods of the same `lane` share one lane; a method that
    `changes` stored data is refused for a read-only profile.

    The state may have changed by the time the coroutine runs. A method that works on the current
    selection is therefore a plain function: it reads the selection when it is called (and may
    refuse by raising ProblemError), and returns the coroutine that works on it.
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
    """Turn a service's method without awaits into an action; on the owner loop it is done on
    return."""

    def start(service: Sv, /, *args: P.args, **kwargs: P.kwargs) -> Handle[T]:
        call = functools.partial(method, service, *args, **kwargs)
        return service._loop.start(lambda: service._admit(call))

    functools.update_wrapper(start, method)
    return start


class Service(Generic[S]):
    """The actions of one area, and their slice, which only they write.

    With a `link` they use the profile's service; without, only this machine.
    """

    def __init__(self, loop: OwnerLoop, state: S, link: Link | None = None) -> None:
        self.slice = Slice(state)
        self._loop = loop
        self._link = link
        self._lanes: dict[str, Lane] = {}
        self._loads = 0
        self._closed = False

    async def close(self) -> None:
        """Cancel all running and queued actions, wait for their end, and refuse further ones."""
        self._closed = True
        tasks = [task for lane in self._lanes.values() for task in lane.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def recover(self) -> None:
        """Clear an error that the lost service caused."""
        error: Problem | None = getattr(self.slice.value, "error", None)
        if error is not None and error.lost:
            self.slice.set(error=None)

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Load what the slice shows."""
        await self._load()

    @action(Policy.RENEW, lane="load")
    async def reload(self) -> None:
        """Load again after a change, without joining a load that began before the change."""
        await self._load()

    async def _load(self) -> None:
        """Load what the slice shows. Areas with something to load override this."""

    @contextmanager
    def _set_loading(self) -> Iterator[None]:
        """Set `loading` in the slice while the block runs."""
        # A count, not a flag: loads of several lanes overlap.
        self._loads += 1
        self.slice.set(loading=True, error=None)
        try:
            yield
        finally:
            self._loads -= 1
            self.slice.set(loading=self._loads > 0)

    def _note_failure(self, error: Exception) -> ProblemError:
        """Store a failure in the slice, and return it as a ProblemError."""
        problem = Problem.of(error)
        self.slice.set(error=problem)
        if problem.lost and self._link is not None:
            self._link.check_connection()
        return ProblemError(problem)

    def _admit(self, call: Callable[[], T]) -> T:
        # A call of a closed store would open a connection that nobody closes.
        if self._closed:
            raise asyncio.CancelledError
        try:
            return call()
        except Exception as error:
            raise self._note_failure(error) from error

    def _lane(self, name: str) -> Lane:
        return self._lanes.setdefault(name, Lane(self._note_failure))
