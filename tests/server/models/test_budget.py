import asyncio
from contextlib import suppress

from carrel.server.models.budget import TokenBudget


class Holder:
    """A task that takes from a budget until it is released."""

    def __init__(self, budget: TokenBudget, tokens: int, owner: str = "") -> None:
        self.has_it = False
        self.place = 0
        self._release = asyncio.Event()
        self.task = asyncio.create_task(self._hold(budget, tokens, owner))

    def _move(self, place: int) -> None:
        self.place = place

    async def _hold(self, budget: TokenBudget, tokens: int, owner: str) -> None:
        async with budget.hold(tokens, self._move, owner=owner):
            self.has_it = True
            await self._release.wait()

    async def release(self) -> None:
        self._release.set()
        await self.task

    async def cancel(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def holders(budget: TokenBudget, *tokens: int) -> list[Holder]:
    made = [Holder(budget, number) for number in tokens]
    await settle()
    return made


async def test_what_fits_is_lent_at_once_and_the_rest_waits() -> None:
    first, second, third = await holders(TokenBudget(10), 4, 6, 1)
    assert (first.has_it, second.has_it, third.has_it) == (True, True, False)

    await first.release()
    await settle()
    assert third.has_it
    await second.release()
    await third.release()


async def test_nobody_overtakes_one_who_waits_for_more() -> None:
    first, whole, small = await holders(TokenBudget(10), 4, 10, 1)
    assert not whole.has_it
    assert not small.has_it

    await first.release()
    await settle()
    assert whole.has_it
    assert not small.has_it
    await whole.release()
    await small.release()


async def test_more_than_there_is_means_all_of_it() -> None:
    whole, small = await holders(TokenBudget(10), 99, 1)
    assert whole.has_it
    assert not small.has_it
    await whole.release()
    await small.release()


async def test_one_who_leaves_the_queue_lets_the_next_through() -> None:
    first, whole, small = await holders(TokenBudget(10), 4, 10, 6)

    await whole.cancel()
    await settle()
    assert small.has_it
    await first.release()
    await small.release()


async def test_one_who_is_cancelled_gives_back_what_he_had() -> None:
    first, second = await holders(TokenBudget(10), 10, 10)

    await first.cancel()
    await settle()
    assert second.has_it
    await second.release()


async def test_owners_take_turns_however_much_one_of_them_asks_for() -> None:
    budget = TokenBudget(10)
    greedy = [Holder(budget, 10, "greedy") for _ in range(5)]
    await settle()
    friendly = Holder(budget, 10, "friendly")
    late = Holder(budget, 10, "late")
    await settle()
    assert [holder.place for holder in greedy] == [0, 1, 4, 5, 6]
    assert (friendly.place, late.place) == (2, 3)

    for holder in (greedy[0], greedy[1], friendly, late, *greedy[2:]):
        assert holder.has_it
        await holder.release()
        await settle()
