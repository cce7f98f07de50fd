"""Sharing one context between completions that run at the same time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TokenBudget:
    """A number of tokens that are lent out, first come first served."""

    def __init__(self, tokens: int) -> None:
        self._free = self._tokens = tokens
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def hold(self, tokens: int) -> AsyncIterator[None]:
        """Waits until so many tokens are free (at most all of them) and keeps them meanwhile."""
        tokens = min(tokens, self._tokens)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((tokens, turn))
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += tokens
            else:
                self._waiting.remove((tokens, turn))
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            tokens, turn = self._waiting.popleft()
            self._free -= tokens
            turn.set_result(None)
