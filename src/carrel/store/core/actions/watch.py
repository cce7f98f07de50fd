"""Watches: deliver a slice to a face on its loop, newest value only, a few times a second."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar, overload

from carrel.store.core.actions.slice import S, Slice

V = TypeVar("V")
Deliver = Callable[[Callable[[], None]], object]

logger = logging.getLogger(__name__)

_NOTHING = object()


@overload
def watch(
    slice: Slice[S], fn: Callable[[S], object], *, deliver: Deliver | None = ..., hz: float = ...
) -> Callable[[], None]: ...
@overload
def watch(
    slice: Slice[S],
    fn: Callable[[V], object],
    *,
    deliver: Deliver | None = ...,
    select: Callable[[S], V],
    hz: float = ...,
) -> Callable[[], None]: ...
def watch(
    slice: Slice[S],
    fn: Callable[[Any], object],
    *,
    deliver: Deliver | None = None,
    select: Callable[[S], Any] | None = None,
    hz: float = 30,
) -> Callable[[], None]:
    """Call `fn` with the slice's value now and after every change, at most `hz` times a second.

    Rate-limited: the first and the last change of a burst are always delivered, those between may
    be skipped. With `select`, only changes of its result count. `deliver` hands a function to the
    face's loop from any thread; without it, call `watch` on the owner loop, where `fn` then runs.

    Returns a function that ends the watch.
    """
    watcher = _Watch(slice, fn, deliver or _call, select, 1 / hz)

    # A closure, because the signal holds bound methods only weakly.
    def changed(new: object, old: object) -> None:
        watcher.changed()

    slice.changed.connect(changed)
    watcher.hand_over()

    def close() -> None:
        watcher.closed = True
        slice.changed.disconnect(changed, missing_ok=True)

    return close


def _call(run: Callable[[], None]) -> None:
    run()


class _Watch:
    def __init__(
        self,
        slice: Slice[Any],
        fn: Callable[[Any], object],
        deliver: Deliver,
        select: Callable[[Any], Any] | None,
        period: float,
    ) -> None:
        self.closed = False
        self._slice = slice
        self._fn = fn
        self._deliver = deliver
        self._select = select
        self._period = period
        self._next = 0.0  # earliest loop time of the next delivery
        self._waiting = False  # a timer is set
        self._handed = False  # the face has a delivery that has not begun
        self._shown: object = _NOTHING

    def changed(self) -> None:
        if self.closed or self._waiting or self._handed:
            return
        loop = asyncio.get_running_loop()
        wait = self._next - loop.time()
        if wait <= 0:
            self._next = loop.time() + self._period
            self.hand_over()
        else:
            self._waiting = True
            loop.call_later(wait, self._end_wait, loop)

    def hand_over(self) -> None:
        self._handed = True
        try:
            self._deliver(self._run)
        except Exception:
            self._handed = False
            logger.exception("a watch of %s failed", type(self._slice.value).__name__)

    def _end_wait(self, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting = False
        if not self.closed and not self._handed:
            self._next = loop.time() + self._period
            self.hand_over()

    def _run(self) -> None:
        # Before the value is read: a change after this line is delivered again.
        self._handed = False
        if self.closed:
            return
        value = self._slice.value
        shown = self._select(value) if self._select else value
        if self._shown is not _NOTHING and shown == self._shown:
            return
        self._shown = shown
        self._fn(shown)


async def until(slice: Slice[S], holds: Callable[[S], bool]) -> S:
    """Wait on the owner loop until a condition holds; return the state that meets it."""
    found: asyncio.Future[S] = asyncio.get_running_loop().create_future()

    def look(new: S, _: object = None) -> None:
        if not found.done() and holds(new):
            found.set_result(new)

    slice.changed.connect(look)
    try:
        look(slice.value)
        return await found
    finally:
        slice.changed.disconnect(look, missing_ok=True)
