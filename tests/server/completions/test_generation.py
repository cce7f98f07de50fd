"""Several answers at once, read slowly or not at all."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from carrel.server.completions.generation import interleave

ANSWER = 1000
"""Tokens of an answer that is not longer than usual."""


class Source:
    """So many numbers, and whether the generator of them is closed."""

    def __init__(self, items: float) -> None:
        self._items = items
        self.given = 0
        self.closed = asyncio.Event()

    async def numbers(self) -> AsyncGenerator[int]:
        try:
            while self.given < self._items:
                await asyncio.sleep(0)
                self.given += 1
                yield self.given
        finally:
            self.closed.set()


async def test_a_slow_reader_does_not_keep_the_model() -> None:
    source = Source(ANSWER)
    async with aclosing(interleave([source.numbers()], None)) as batches:
        taken = len(await anext(batches))
        await asyncio.wait_for(source.closed.wait(), 10)
        async for batch in batches:
            # A long one would keep everybody else waiting while it is written out.
            assert len(batch) <= 64
            taken += len(batch)
    assert taken == ANSWER


async def test_what_waits_for_a_slow_reader_is_bounded_and_the_deadline_comes_for_it_too() -> None:
    sources = [Source(float("inf")) for _ in range(2)]
    deadline = asyncio.get_running_loop().time() + 1
    answers = interleave([source.numbers() for source in sources], deadline)
    async with aclosing(answers) as batches:
        await anext(batches)
        for source in sources:
            await asyncio.wait_for(source.closed.wait(), 10)
        assert sum(source.given for source in sources) < 2 * ANSWER
        with pytest.raises(TimeoutError):
            async for _ in batches:
                pass
