"""Rate limits on requests and tokens per organisation and minute."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.settings import Limits
from carrel.wire.errors import ErrorBody

# Paths answered by a model, which cost tokens.
_TOKEN_PATHS = (
    "/v1/agents/completions",
    "/v1/chat/completions",
    "/v1/embeddings",
    "/v1/responses",
)


class Buckets:
    """A token bucket for each organisation, refilled evenly over the minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def level(self, organisation_id: str, per_minute: int) -> float:
        """The level of an organisation's bucket; negative if overdrawn."""
        now = self._clock()
        level, since = self._levels.get(organisation_id, (per_minute, now))
        level = min(per_minute, level + (now - since) * per_minute / 60)
        self._levels[organisation_id] = (level, now)
        return level

    def take(self, organisation_id: str, per_minute: int, amount: int) -> None:
        """Takes an amount out of an organisation's bucket, even if it holds less."""
        level = self.level(organisation_id, per_minute)
        self._levels[organisation_id] = (level - amount, self._clock())


@dataclass(frozen=True)
class Allowance:
    """One limit of one organisation."""

    unit: str
    """The limit's name in headers."""
    per_minute: int
    buckets: Buckets
    organisation_id: str

    @property
    def remaining(self) -> int:
        """The amount available now."""
        return max(0, math.floor(self.buckets.level(self.organisation_id, self.per_minute)))

    @property
    def wait(self) -> int:
        """Seconds until some is available; 0 for now."""
        missing = 1 - self.buckets.level(self.organisation_id, self.per_minute)
        return max(0, math.ceil(missing * 60 / self.per_minute))

    def use(self, amount: int) -> None:
        """Counts usage."""
        self.buckets.take(self.organisation_id, self.per_minute, amount)

    def headers(self) -> dict[str, str]:
        """The limit and what is left of it."""
        return {
            f"x-ratelimit-limit-{self.unit}-minute": str(self.per_minute),
            f"x-ratelimit-remaining-{self.unit}-minute": str(self.remaining),
        }


class RateLimit:
    """Answers 429 above the limits, and adds the remaining amounts to other responses.

    A route reports its cost in `request.state.tokens`. It is unknown beforehand: an answer
    may overdraw the bucket, and the next request waits.
    """

    def __init__(self, app: ASGIApp, limits: Callable[[], Limits]) -> None:
        self._app = app
        self._limits = limits
        self._requests = Buckets()
        self._tokens = Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        requests, tokens = self._allowances(scope)
        allowances = [each for each in (requests, tokens) if each is not None]
        if not allowances:
            await self._app(scope, receive, send)
            return
        state = scope["state"]

        def count_tokens() -> int | None:
            used: int | None = state.pop("tokens", None)
            if tokens is not None and used is not None:
                tokens.use(used)
            return used

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                used = count_tokens()
                if tokens is not None and used is not None:
                    headers["x-ratelimit-tokens-query-cost"] = str(used)
                for allowance in allowances:
                    headers.update(allowance.headers())
            await send(message)

        wait = max(allowance.wait for allowance in allowances)
        if wait:
            await _refusal(scope, wait)(scope, receive, send_on)
            return
        if requests is not None:
            requests.use(1)
        try:
            await self._app(scope, receive, send_on)
        finally:
            # The cost of a stream is known at its end.
            count_tokens()

    def _allowances(self, scope: Scope) -> tuple[Allowance | None, Allowance | None]:
        """The limits on requests and on tokens, where this request meets them."""
        # Only the interface counts, not a workbench that renews its lease.
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return None, None
        limits, id = self._limits(), scope["state"]["caller"].organisation_id
        requests = limits.requests_per_minute
        tokens = limits.tokens_per_minute if _counts_tokens(scope) else None
        return (
            Allowance("req", requests, self._requests, id) if requests else None,
            Allowance("tokens", tokens, self._tokens, id) if tokens else None,
        )


def _counts_tokens(scope: Scope) -> bool:
    talks = scope["method"] == "POST" and scope["path"].startswith("/v1/conversations")
    return talks or scope["path"] in _TOKEN_PATHS


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
