"""Sharing one context between completions that run at the same time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import zip_longest


@dataclass(eq=False)
class _Waiting:
    """A completion in the queue."""

    tokens: int
    turn: asyncio.Future[None]
    moved: Callable[[int], None]


class TokenBudget:
    """A token semaphore with a queue for each owner; the owners take turns.

    An owner that asks for much delays only itself.
    """

    def __init__(self, tokens: int) -> None:
        self._free = self._tokens = tokens
        self._queues: dict[str, deque[_Waiting]] = {}
        """The waiting completions by owner, the next owner first; no queue is empty."""

    @asynccontextmanager
    async def hold(
        self, tokens: int, moved: Callable[[int], None] = lambda place: None, *, owner: str = ""
    ) -> AsyncIterator[None]:
        """Wait until `tokens` are free (at most all of them) and keep them meanwhile.

        `moved` is called with the place in the queue, from 1, whenever it changes.
        """
        tokens = min(tokens, self._tokens)
        turn = asyncio.get_running_loop().create_future()
        waiting = _Waiting(tokens, turn, moved)
        self._queues.setdefault(owner, deque()).append(waiting)
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += tokens
            else:
                self._queues[owner].remove(waiting)
                if not self._queues[owner]:
                    del self._queues[owner]
            self._admit()

    def _admit(self) -> None:
        while self._queues:
            owner, queue = next(iter(self._queues.items()))
            if queue[0].tokens > self._free:
                break
            first = queue.popleft()
            del self._queues[owner]
            if queue:
                self._queues[owner] = queue
            self._free -= first.tokens
            first.turn.set_result(None)
        for place, waiting in enumerate(self._take_turns(), 1):
            waiting.moved(place)

    def _take_turns(self) -> Iterator[_Waiting]:
        for turns in zip_longest(*self._queues.values()):
            yield from (waiting for waiting in turns if waiting is not None)
