import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel.store.core.actions.action import BUSY, Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError


@dataclass(frozen=True, slots=True)
class State:
    log: tuple[str, ...] = ()
    error: Problem | None = None


class Landlord:
    """Says whether anybody may cook, and hears of a lost kitchen."""

    allowed = True
    asked = 0

    def check_allowed(self) -> None:
        if not self.allowed:
            raise ProblemError(Problem("Closed", "Nobody cooks."))

    def check_connection(self) -> None:
        self.asked += 1


class Kitchen(Service[State]):
    """Cooks dishes; each is done when it is released."""

    def __init__(self, loop: OwnerLoop) -> None:
        self.landlord = Landlord()
        super().__init__(loop, State(), self.landlord)
        self.releases: dict[str, asyncio.Event] = {}

    def release(self, dish: str) -> None:
        self.releases.setdefault(dish, asyncio.Event()).set()

    async def _cook(self, dish: str) -> str:
        self._say(f"{dish} begins")
        try:
            await self.releases.setdefault(dish, asyncio.Event()).wait()
        finally:
            self._say(f"{dish} ends")
        return dish

    def _say(self, words: str) -> None:
        self.slice.set(log=(*self.slice.value.log, words))

    @action(Policy.LATEST)
    async def latest(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.LATEST, lane="latest")
    async def beside(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.JOIN, lane="latest")
    async def join(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.RENEW, lane="latest")
    async def renew(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.QUEUE)
    def order(self) -> Coroutine[Any, Any, str]:
        if not self.slice.value.log:
            raise ProblemError(Problem("Nothing is cooked", ""))
        return self._cook(f"{self.slice.value.log[-1]} again")

    @instant
    def say(self, words: str) -> str:
        self._say(words)
        return words

    @action(Policy.SINGLE)
    async def single(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.QUEUE)
    async def queue(self, dish: str) -> str:
        return await self._cook(dish)

    @action(Policy.QUEUE)
    async def burn(self) -> None:
        raise ZeroDivisionError("the pan is at absolute zero")

    @action(Policy.QUEUE)
    async def lose(self) -> None:
        raise ProblemError(Problem("No gas", "", lost=True))

    @action(Policy.QUEUE, changes=True)
    async def change(self) -> None:
        self._say("changed")


@pytest.fixture
async def kitchen() -> AsyncIterator[Kitchen]:
    kitchen = Kitchen(OwnerLoop.running())
    yield kitchen
    await kitchen.close()


def _texts(folder: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in folder.rglob("*.txt")}


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_latest_cancels_the_earlier_one_and_waits_for_its_end(kitchen: Kitchen) -> None:
    soup = kitchen.latest("soup")
    await settle()
    stew = kitchen.latest("stew")
    kitchen.release("stew")
    assert await stew == "stew"
    assert soup.outcome == "cancelled"
    assert kitchen.slice.value.log == ("soup begins", "soup ends", "stew begins", "stew ends")


async def test_actions_of_one_lane_share_its_place(kitchen: Kitchen) -> None:
    soup = kitchen.latest("soup")
    await settle()
    kitchen.release("stew")
    assert await kitchen.beside("stew") == "stew"
    assert soup.outcome == "cancelled"


async def test_of_many_latest_calls_the_last_one_wins(kitchen: Kitchen) -> None:
    handles = [kitchen.latest(f"dish {number}") for number in range(20)]
    kitchen.release("dish 19")
    assert await handles[-1] == "dish 19"
    assert {handle.outcome for handle in handles[:-1]} == {"cancelled"}


async def test_single_refuses_while_one_runs(kitchen: Kitchen) -> None:
    soup = kitchen.single("soup")
    await settle()
    stew = kitchen.single("stew")
    with pytest.raises(ProblemError):
        await stew
    assert (stew.outcome, stew.error) == ("failed", BUSY)
    kitchen.release("soup")
    assert await soup == "soup"
    kitchen.release("stew")
    assert await kitchen.single("stew") == "stew"


async def test_a_queue_runs_in_the_order_of_the_calls(kitchen: Kitchen) -> None:
    handles = [kitchen.queue(dish) for dish in ("soup", "stew", "cake")]
    for dish in ("cake", "stew", "soup"):
        kitchen.release(dish)
    assert [await handle for handle in handles] == ["soup", "stew", "cake"]
    begun = [line for line in kitchen.slice.value.log if line.endswith("begins")]
    assert begun == ["soup begins", "stew begins", "cake begins"]


async def test_one_taken_out_of_the_queue_lets_nobody_pass_the_first(kitchen: Kitchen) -> None:
    soup, stew, cake = (kitchen.queue(dish) for dish in ("soup", "stew", "cake"))
    await settle()
    stew.cancel()
    await stew.settled()
    kitchen.release("cake")
    await settle()
    assert kitchen.slice.value.log == ("soup begins",)
    kitchen.release("soup")
    assert (await soup, await cake) == ("soup", "cake")
    assert stew.outcome == "cancelled"


async def test_one_that_fails_does_not_stop_the_queue(kitchen: Kitchen) -> None:
    first, second = kitchen.burn(), kitchen.burn()
    await second.settled()
    assert (first.outcome, second.outcome) == ("failed", "failed")


async def test_what_nobody_expected_ends_in_the_slice_and_a_report(
    kitchen: Kitchen, home: Path
) -> None:
    handle = kitchen.burn()
    await handle.settled()
    problem = kitchen.slice.value.error
    assert problem is not None and problem == handle.error
    assert problem.title == "Something went wrong inside the workbench"
    assert "absolute zero" not in str(problem)
    ((path, report),) = _texts(home).items()
    assert problem.advice == f"The report is in {path}."
    assert "ZeroDivisionError: the pan is at absolute zero" in report


async def test_a_change_that_is_not_allowed_is_refused(kitchen: Kitchen) -> None:
    kitchen.landlord.allowed = False
    handle = kitchen.change()
    await handle.settled()
    assert handle.error == Problem("Closed", "Nobody cooks.")
    assert kitchen.slice.value.log == ()


async def test_a_lost_service_is_looked_for_and_its_error_ends_when_it_is_back(
    kitchen: Kitchen,
) -> None:
    await kitchen.burn().settled()
    kitchen.recover()
    assert kitchen.landlord.asked == 0
    assert kitchen.slice.value.error is not None
    await kitchen.lose().settled()
    assert kitchen.landlord.asked == 1
    kitchen.recover()
    assert kitchen.slice.value.error is None


async def test_any_thread_may_call_an_action(kitchen: Kitchen) -> None:
    kitchen.release("soup")
    handle = await asyncio.to_thread(lambda: kitchen.queue("soup"))
    assert await asyncio.to_thread(handle.result, 5) == "soup"


async def test_closing_cancels_what_runs_and_what_waits(kitchen: Kitchen) -> None:
    handles = [kitchen.queue("soup"), kitchen.queue("stew"), kitchen.latest("cake")]
    await settle()
    await kitchen.close()
    assert [handle.outcome for handle in handles] == ["cancelled"] * 3


async def test_what_is_called_at_the_close_or_after_it_never_begins(kitchen: Kitchen) -> None:
    called = kitchen.queue("soup")
    await kitchen.close()
    late = kitchen.queue("stew")
    await settle()
    assert [called.outcome, late.outcome] == ["cancelled"] * 2
    assert kitchen.slice.value.log == ()


async def test_a_call_that_joins_ends_as_the_one_that_runs(kitchen: Kitchen) -> None:
    soup = kitchen.latest("soup")
    await settle()
    joined = [kitchen.join("stew") for _ in range(3)]
    joined[0].cancel()
    assert await joined[0].settled() == "cancelled"
    kitchen.release("soup")
    assert [await handle for handle in joined[1:]] == ["soup", "soup"]
    assert (await soup, joined[0].outcome) == ("soup", "cancelled")
    assert kitchen.slice.value.log == ("soup begins", "soup ends")
    kitchen.release("cake")
    assert await kitchen.join("cake") == "cake"


async def test_what_is_renewed_runs_once_more_for_all_who_wait(kitchen: Kitchen) -> None:
    soup = kitchen.join("soup")
    await settle()
    renewed = [kitchen.renew(dish) for dish in ("stew", "cake", "pie")]
    await settle()
    kitchen.release("stew")
    kitchen.release("soup")
    assert [await handle for handle in (soup, *renewed)] == ["soup", "stew", "stew", "stew"]
    assert kitchen.slice.value.log == ("soup begins", "soup ends", "stew begins", "stew ends")


async def test_a_plain_method_takes_what_it_works_on_when_it_is_called(kitchen: Kitchen) -> None:
    refused = kitchen.order()
    assert (refused.outcome, refused.error) == ("failed", Problem("Nothing is cooked", ""))
    kitchen.say("soup")
    order = kitchen.order()
    kitchen.say("stew")
    kitchen.release("soup again")
    assert await order == "soup again"


async def test_an_instant_action_is_done_when_its_call_returns(kitchen: Kitchen) -> None:
    handle = kitchen.say("soup")
    assert (handle.outcome, handle.result(0)) == ("done", "soup")
    assert await asyncio.to_thread(lambda: kitchen.say("stew").result(5)) == "stew"
    assert kitchen.slice.value.log == ("soup", "stew")
    await kitchen.close()
    assert kitchen.say("cake").outcome == "cancelled"
