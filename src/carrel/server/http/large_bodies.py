"""Limits an organisation's share of the thread that all requests use."""

import asyncio
import time
from collections import defaultdict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LARGE_BYTES = 100_000
_SHARE = 40
_LONGEST_SECONDS = 10
_NEAR_SECONDS = 60
"""Age up to which a request counts as one of now."""


class LargeBodies:
    """Lets an organisation spend a fortieth of the time on reading its large bodies.

    Parsing eight megabytes of JSON blocks all requests for a tenth of a second. While
    others ask too, the sender's next large body waits forty times as long, at most ten seconds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._asked_at = dict[str, float]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("state", {}).get("caller")
        size = 0
        if caller:
            self._asked_at[caller.organisation_id] = time.monotonic()

        async def receive_in_turn() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > _LARGE_BYTES and not message.get("more_body"):
                await self._take_turn(caller.organisation_id)
            return message

        await self._app(scope, receive_in_turn if caller else receive, send)

    async def _take_turn(self, organisation: str) -> None:
        """Wait until the organisation may use the thread, which it holds until its next await."""
        turn = self._turns[organisation]
        await turn.acquire()
        asyncio.get_running_loop().call_soon(self._end, organisation, time.monotonic())

    def _end(self, organisation: str, began: float) -> None:
        now, release = time.monotonic(), self._turns[organisation].release
        others = (at for name, at in self._asked_at.items() if name != organisation)
        if any(now - at < _NEAR_SECONDS for at in others):
            wait = min(_SHARE * (now - began), _LONGEST_SECONDS)
            asyncio.get_running_loop().call_later(wait, release)
        else:
            release()
