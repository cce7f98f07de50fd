"""Limits on requests, tokens and answers, per organisation and per API key.

Each process counts what it serves itself.
"""

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.settings import Limits
from carrel.wire.errors import ErrorBody

# Paths answered by a model, which cost tokens.
_TOKEN_PATHS = ("/v1/agents/completions", "/v1/chat/completions", "/v1/embeddings", "/v1/responses")

_ANSWER_SECONDS = 1
"""The wait that is named where a key has as many answers under way as it may."""


class Buckets:
    """A token bucket for each organisation or key, refilled evenly over the minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def level(self, owner: str, per_minute: int) -> float:
        """Return the level of a bucket; negative if overdrawn."""
        now = self._clock()
        level, since = self._levels.get(owner, (per_minute, now))
        level = min(per_minute, level + (now - since) * per_minute / 60)
        self._levels[owner] = (level, now)
        return level

    def take(self, owner: str, per_minute: int, amount: int) -> None:
        """Take an amount out of a bucket, even if it holds less."""
        level = self.level(owner, per_minute)
        self._levels[owner] = (level - amount, self._clock())


@dataclass(frozen=True)
class Allowance:
    """One limit of one organisation or key."""

    unit: str
    """The limit's name in headers: `req` or `tokens`."""
    per_minute: int
    buckets: Buckets
    owner: str
    """The id of the organisation or key."""

    @property
    def remaining(self) -> int:
        """The amount available now."""
        return max(0, math.floor(self.buckets.level(self.owner, self.per_minute)))

    @property
    def wait(self) -> int:
        """Seconds until some is available; 0 for now."""
        missing = 1 - self.buckets.level(self.owner, self.per_minute)
        return max(0, math.ceil(missing * 60 / self.per_minute))

    def use(self, amount: int) -> None:
        """Count usage."""
        self.buckets.take(self.owner, self.per_minute, amount)

    def headers(self) -> dict[str, str]:
        """Return the headers of the limit and its remainder, under the names of both dialects."""
        remaining = self.remaining
        until_full = (self.per_minute - remaining) * 60 / self.per_minute
        other = "requests" if self.unit == "req" else self.unit
        return {
            f"x-ratelimit-limit-{self.unit}-minute": str(self.per_minute),
            f"x-ratelimit-remaining-{self.unit}-minute": str(remaining),
            f"x-ratelimit-limit-{other}": str(self.per_minute),
            f"x-ratelimit-remaining-{other}": str(remaining),
            f"x-ratelimit-reset-{other}": f"{until_full:.3g}s",
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
        self._answers: Counter[str] = Counter()
        """Answers under way by key."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Only the interface counts, not a workbench that renews its lease.
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        state, limits = scope["state"], self._limits()
        key = state["caller"].key_id
        requests, tokens = self._allowances(scope, limits)

        def count_tokens() -> int | None:
            used: int | None = state.pop("tokens", None)
            for allowance in tokens if used is not None else ():
                allowance.use(used or 0)
            return used

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                used = count_tokens()
                if tokens and used is not None:
                    headers["x-ratelimit-tokens-query-cost"] = str(used)
                # Of two limits on the same, the one that is met first.
                for allowance in sorted([*requests, *tokens], key=lambda each: -each.remaining):
                    headers.update(allowance.headers())
            await send(message)

        wait = max((allowance.wait for allowance in [*requests, *tokens]), default=0)
        answers = limits.key_answers if _counts_tokens(scope) else None
        if answers is not None and self._answers[key] >= answers:
            wait = max(wait, _ANSWER_SECONDS)
        if wait:
            await _refusal(scope, wait)(scope, receive, send_on)
            return
        for allowance in requests:
            allowance.use(1)
        if answers is not None:
            self._answers[key] += 1
        try:
            await self._app(scope, receive, send_on if requests or tokens else send)
        finally:
            # The cost of a stream is known at its end.
            count_tokens()
            if answers is not None:
                self._answers[key] -= 1

    def _allowances(self, scope: Scope, limits: Limits) -> tuple[list[Allowance], list[Allowance]]:
        """Return the limits on requests and tokens that apply to this request."""
        caller = scope["state"]["caller"]
        organisation, key = caller.organisation_id, caller.key_id

        requests = (
            (organisation, limits.requests_per_minute),
            (key, limits.key_requests_per_minute),
        )
        tokens = (organisation, limits.tokens_per_minute), (key, limits.key_tokens_per_minute)
        return (
            [Allowance("req", limit, self._requests, owner) for owner, limit in requests if limit],
            [
                Allowance("tokens", limit, self._tokens, owner)
                for owner, limit in tokens
                if limit and _counts_tokens(scope)
            ],
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
