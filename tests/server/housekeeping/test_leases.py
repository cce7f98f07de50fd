"""Who uses a server, and when it may stop."""

import asyncio

from carrel.server.housekeeping.leases import LEASE_SECONDS, UNUSED_SECONDS, Leases
from carrel.server.housekeeping.tasks import stop_when_unused


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Worker:
    """Work that never ends by itself."""

    def __init__(self) -> None:
        self.active = 1
        self.paused = asyncio.Event()
        self.resumed = asyncio.Event()

    def pause(self) -> None:
        self.paused.set()

    def resume(self) -> None:
        self.resumed.set()


def test_a_server_that_nobody_leased_is_unused_from_its_start() -> None:
    clock = Clock()
    leases = Leases(clock)
    clock.now += 5
    assert leases.unused_seconds() == 5


def test_a_renewed_lease_keeps_a_server_in_use() -> None:
    clock = Clock()
    leases = Leases(clock)
    for _ in range(5):
        leases.renew("a")
        clock.now += LEASE_SECONDS - 1
        assert leases.unused_seconds() == 0


def test_a_holder_that_died_counts_until_its_lease_ends() -> None:
    clock = Clock()
    leases = Leases(clock)
    leases.renew("a")
    clock.now += LEASE_SECONDS + 7
    assert leases.unused_seconds() == 7


def test_a_released_lease_ends_at_once_and_releasing_twice_changes_nothing() -> None:
    clock = Clock()
    leases = Leases(clock)
    leases.renew("a")
    clock.now += 3
    leases.release("a")
    clock.now += 2
    leases.release("a")
    assert leases.unused_seconds() == 2


def test_one_of_two_holders_is_enough() -> None:
    clock = Clock()
    leases = Leases(clock)
    leases.renew("a")
    leases.renew("b")
    leases.release("a")
    assert leases.unused_seconds() == 0


async def test_an_unused_server_finishes_what_runs_and_begins_nothing_new() -> None:
    clock, worker, stopped = Clock(), Worker(), asyncio.Event()
    watching = asyncio.create_task(stop_when_unused(Leases(clock), worker, stopped.set))
    clock.now += UNUSED_SECONDS
    async with asyncio.timeout(5):
        await worker.paused.wait()
        assert not stopped.is_set()
        worker.active = 0
        await stopped.wait()
        await watching


async def test_a_lease_taken_while_work_is_finished_keeps_the_server() -> None:
    clock, worker, stopped = Clock(), Worker(), asyncio.Event()
    leases = Leases(clock)
    watching = asyncio.create_task(stop_when_unused(leases, worker, stopped.set))
    clock.now += UNUSED_SECONDS
    async with asyncio.timeout(5):
        await worker.paused.wait()
        leases.renew("late")
        worker.active = 0
        worker.resumed.clear()
        await worker.resumed.wait()
    watching.cancel()
    assert not stopped.is_set()
