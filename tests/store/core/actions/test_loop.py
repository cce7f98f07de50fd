import asyncio
import threading
from collections.abc import Iterator

import pytest

from carrel.store.core.actions.handle import Cancelled, Handle
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError


@pytest.fixture
def portal() -> Iterator[OwnerLoop]:
    loop = OwnerLoop.in_thread()
    yield loop
    loop.close()


async def thread_name() -> str:
    return threading.current_thread().name


def test_a_portal_runs_on_one_thread_of_its_own(portal: OwnerLoop) -> None:
    names = {portal.run(thread_name()).result(5) for _ in range(3)}
    assert names == {"carrel-store"}


async def test_a_running_loop_runs_where_it_was_taken() -> None:
    loop = OwnerLoop.running()
    assert await loop.run(thread_name()) == threading.current_thread().name


async def test_another_thread_hands_work_to_a_running_loop() -> None:
    loop = OwnerLoop.running()
    handle = await asyncio.to_thread(lambda: loop.run(thread_name()))
    assert await handle == threading.current_thread().name


async def test_a_handle_of_the_portal_can_be_awaited_on_another_loop(portal: OwnerLoop) -> None:
    assert await portal.run(thread_name()) == "carrel-store"


def test_the_result_of_a_failed_action_is_its_problem(portal: OwnerLoop) -> None:
    problem = Problem("Out of paper", "Tray 2 is empty.", "Fill it.")

    async def fail() -> int:
        raise ProblemError(problem)

    handle = portal.run(fail())
    with pytest.raises(ProblemError) as raised:
        handle.result(5)
    assert raised.value.problem == problem
    assert (handle.outcome, handle.error) == ("failed", problem)


def test_cancelling_ends_it_as_cancelled_after_its_cleaning_up(portal: OwnerLoop) -> None:
    began, cleaned = threading.Event(), threading.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    handle = portal.run(wait())
    assert began.wait(5)
    assert not handle.done()
    handle.cancel()
    with pytest.raises(Cancelled):
        handle.result(5)
    assert handle.outcome == "cancelled"
    assert cleaned.is_set()


def test_cancelled_before_it_began_it_never_begins(portal: OwnerLoop) -> None:
    blocked, release, begun = threading.Event(), threading.Event(), threading.Event()

    async def block_the_loop() -> None:
        blocked.set()
        release.wait(5)

    async def begin() -> None:
        begun.set()

    portal.run(block_the_loop())
    # Both must not begin in the same turn of the loop.
    assert blocked.wait(5)
    handle = portal.run(begin())
    handle.cancel()
    release.set()
    with pytest.raises(Cancelled):
        handle.result(5)
    assert handle.outcome == "cancelled"
    assert not begun.is_set()


async def test_who_stops_waiting_does_not_stop_the_action() -> None:
    release = asyncio.Event()

    async def work() -> str:
        await release.wait()
        return "finished"

    handle = OwnerLoop.running().run(work())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handle, 0.01)
    release.set()
    assert await handle == "finished"


async def test_a_linked_action_is_cancelled_with_its_waiter() -> None:
    began, cleaned = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    handle = OwnerLoop.running().run(work())
    waiter = asyncio.create_task(handle.linked())
    await began.wait()
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await waiter
    assert not isinstance(raised.value, Cancelled)
    assert cleaned.is_set() and handle.outcome == "cancelled"


async def test_a_cancelled_action_ends_who_awaits_it_as_cancelled() -> None:
    inner = OwnerLoop.running().run(asyncio.sleep(60))

    async def work() -> None:
        await inner

    outer = OwnerLoop.running().run(work())
    await asyncio.sleep(0)
    inner.cancel()
    assert await outer.settled() == "cancelled"
    with pytest.raises(Cancelled):
        await inner


async def test_a_call_that_is_refused_is_told_at_once() -> None:
    problem = Problem("Out of paper", "Tray 2 is empty.", "Fill it.")

    def refuse() -> int:
        raise ProblemError(problem)

    with pytest.raises(ProblemError):
        OwnerLoop.running().start(refuse).check()
    accepted = OwnerLoop.running().start(lambda: 7)
    assert await accepted.check() == 7


def test_a_result_that_is_late_is_a_timeout(portal: OwnerLoop) -> None:
    handle = portal.run(asyncio.sleep(60))
    with pytest.raises(TimeoutError):
        handle.result(0.01)
    assert handle.outcome == "running"


async def test_callbacks_come_once_whether_early_or_late() -> None:
    heard: list[tuple[str, str]] = []

    async def work() -> None:
        pass

    handle = OwnerLoop.running().run(work())

    def early(ended: Handle[None]) -> None:
        heard.append(("early", ended.outcome))

    handle.add_done_callback(early)
    await handle
    handle.add_done_callback(lambda ended: heard.append(("late", ended.outcome)))
    assert heard == [("early", "done"), ("late", "done")]


def test_closing_cancels_what_runs_and_refuses_what_comes() -> None:
    loop = OwnerLoop.in_thread()
    running = loop.run(asyncio.sleep(60))
    loop.close()
    assert running.outcome == "cancelled"
    late = loop.run(thread_name())
    with pytest.raises(Cancelled):
        late.result(1)
    assert late.outcome == "cancelled"


async def test_a_borrowed_loop_is_not_closed() -> None:
    loop = OwnerLoop.running()
    loop.close()
    assert await loop.run(thread_name()) == threading.current_thread().name
