"""Sharing one context between completions that run at the same time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class _Waiting:
    """A completion in the queue."""

    tokens: int
    turn: asyncio.Future[None]
    moved: Callable[[int], None]


class TokenBudget:
    """A token semaphore, first come first served."""

    def __init__(self, tokens: int) -> None:
        self._free = self._tokens = tokens
        self._waiting: deque[_Waiting] = deque()

    @asynccontextmanager
    async def hold(
        self, tokens: int, moved: Callable[[int], None] = lambda place: None
    ) -> AsyncIterator[None]:
        """Waits until `tokens` are free (at most all of them) and keeps them meanwhile.

        `moved` is told the place in the queue, from 1, whenever it changes.
        """
        tokens = min(tokens, self._tokens)
        turn = asyncio.get_running_loop().create_future()
        waiting = _Waiting(tokens, turn, moved)
        self._waiting.append(waiting)
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += tokens
            else:
                self._waiting.remove(waiting)
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._waiting[0].tokens <= self._free:
            first = self._waiting.popleft()
            self._free -= first.tokens
            first.turn.set_result(None)
        for place, waiting in enumerate(self._waiting, 1):
            waiting.moved(place)
