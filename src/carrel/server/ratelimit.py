"""How many requests an organisation may make in a minute, where a limit is set."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.wire.errors import ErrorBody


class Allowance(NamedTuple):
    """What a request was told: how many are left, and in how many seconds there is one again."""

    granted: bool
    remaining: int
    retry_after: int


class Buckets:
    """A bucket of requests for each organisation, which fills evenly over the minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, organisation_id: str, per_minute: int) -> Allowance:
        """Takes one request out of an organisation's bucket, if there is one in it."""
        now = self._clock()
        level, since = self._levels.get(organisation_id, (per_minute, now))
        level = min(per_minute, level + (now - since) * per_minute / 60)
        granted = level >= 1
        level -= granted
        self._levels[organisation_id] = (level, now)
        wait = 0 if level >= 1 else math.ceil((1 - level) * 60 / per_minute)
        return Allowance(granted, int(level), wait)


class RateLimit:
    """Answers 429 to an organisation that asks too often, and says how much is left to others."""

    def __init__(self, app: ASGIApp, per_minute: Callable[[], int | None]) -> None:
        self._app = app
        self._per_minute = per_minute
        self._buckets = Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._per_minute()
        # Only the interface counts: a workbench that renews its lease asks for nothing.
        if limit is None or scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        allowance = self._buckets.take(scope["state"]["caller"].organisation_id, limit)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-ratelimit-limit-req-minute"] = str(limit)
                headers["x-ratelimit-remaining-req-minute"] = str(allowance.remaining)
            await send(message)

        app = self._app if allowance.granted else _refusal(scope, allowance.retry_after)
        await app(scope, receive, send_on)


def _refusal(scope: Scope, retry_after: int) -> ASGIApp:
    body = ErrorBody(
        message="Rate limit exceeded",
        type="rate_limited",
        code="1300",
        raw_status_code=429,
        request_id=scope["state"]["request_id"],
    )
    return JSONResponse(
        body.model_dump(mode="json"), 429, headers={"retry-after": str(retry_after)}
    )
