"""Several model addresses as one model client.

An address that fails is left out and checked until it answers again. A request goes to the least
busy address that lists its model, and to another if the first fails before it wrote a token.
Each process has a pool of its own: it counts only its own requests.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from carrel.server.errors import ApiError
from carrel.server.models.address import (
    Abilities,
    ModelAddress,
    ModelClient,
    PassedOn,
    retry_after,
    unreachable,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

CHECK_SECONDS = 15.0
"""Interval between two checks of an address that answers."""
SICK_SECONDS = 3.0
"""Interval between two checks of one that does not."""
FIRST_TOKEN_SECONDS = 60.0
"""Default time without a sign of a first token, after which another address is asked."""
_PATIENCE = 5.0
"""Time-out of a check."""
_REST_SECONDS = 5.0
"""Time in which other addresses are preferred to a failed address that answers checks."""
_BEGINNING = 500
"""Characters of a message by which a chat is told from another."""


class PooledAddress:
    """One address of a pool: its health, and what is under way there."""

    def __init__(self, http: httpx.AsyncBaseTransport, address: ModelAddress) -> None:
        self.name = _without_user(address.url)
        self.client = ModelClient(http, address)
        self.abilities: Abilities | None = None
        """The last reported value; None before the first answer."""
        self.healthy = False
        self.under_way = 0
        """Number of requests under way."""
        self._rests_until = 0.0
        self._checked_at = 0.0
        self._checking: asyncio.Task[ApiError | None] | None = None

    @property
    def resting(self) -> bool:
        """Whether it failed or was busy recently."""
        return time.monotonic() < self._rests_until

    @property
    def due(self) -> bool:
        """Whether it is time for a check."""
        interval = CHECK_SECONDS if self.healthy else SICK_SECONDS
        return time.monotonic() >= self._checked_at + interval

    def lists(self, model: str) -> bool:
        """Return whether the address listed this model when it last answered."""
        return self.abilities is not None and model in self.abilities.models

    @contextmanager
    def count_request(self) -> Iterator[None]:
        """Count a request."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1

    async def check(self) -> ApiError | None:
        """Ask for its models, once for all concurrent callers, and return the problem if there is
        one.
        """
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check())
        checking = self._checking
        await asyncio.wait({checking})
        return unreachable() if checking.cancelled() else checking.result()

    async def _check(self) -> ApiError | None:
        problem = None
        try:
            async with asyncio.timeout(_PATIENCE):
                self.abilities = await self.client.abilities(self.abilities)
        except ApiError as error:
            problem = error
        except TimeoutError:
            problem = unreachable()
        if problem is not None and (self.healthy or not self._checked_at):
            log.warning("the model address %s is left out: %s", self.name, problem.message)
        if problem is None and not self.healthy and self._checked_at:
            log.info("the model address %s answers again", self.name)
        self.healthy = problem is None
        self._checked_at = time.monotonic()
        return problem

    def record_failure(self, error: ApiError, waited: float = 0) -> None:
        """Record a failure: prefer other addresses for a while and check this one soon."""
        busy = error.status == 429
        seconds = retry_after(error) if busy else max(_REST_SECONDS, waited)
        self._rests_until = time.monotonic() + seconds
        if not busy:
            self._checked_at = min(self._checked_at, time.monotonic() - CHECK_SECONDS)

    async def stop(self) -> None:
        """End a check that is under way."""
        await _cancel(self._checking)


class ModelPool:
    """The addresses of a server."""

    def __init__(
        self,
        http: httpx.AsyncBaseTransport,
        addresses: Sequence[ModelAddress],
        *,
        first_token_seconds: float = FIRST_TOKEN_SECONDS,
    ) -> None:
        self.addresses = [PooledAddress(http, address) for address in addresses]
        self.first_token_seconds = first_token_seconds
        self._first = next((one.model for one in addresses if one.model), None)
        self._watching: asyncio.Task[None] | None = None
        self.failure = asyncio.Event()
        """Set when an address has failed, to check it soon."""

    async def stop(self) -> None:
        """End the checks."""
        await _cancel(self._watching)
        for address in self.addresses:
            await address.stop()

    async def abilities(self, *, again: bool) -> dict[str, Abilities]:
        """Return the models of all addresses and what each can do wherever it runs, default first.

        Includes the models of an address that is left out, as it last listed them.

        Raises:
            ApiError: 503, no address answers.
        """
        await self._refresh(again)
        known = [each.abilities for each in self.addresses if each.abilities is not None]
        names = dict.fromkeys(name for each in known for name in each.models)
        if self._first in names:
            names = {self._first: None, **names}
        return {
            name: _common(name, (each for each in known if name in each.models)) for name in names
        }

    async def client(self, model: str) -> "PoolClient":
        """Return the addresses that can answer for a model now.

        Raises:
            ApiError: 503, none of those that list it answers.
        """
        await self._refresh(again=False)
        listing = [each for each in self.addresses if each.lists(model)]
        able = [each for each in listing if each.healthy]
        if not able:
            await asyncio.gather(*(each.check() for each in listing))
            able = [each for each in listing if each.healthy and each.lists(model)]
        if not able:
            raise _away_error(model, listing)
        return PoolClient(self, model, able)

    async def pass_on(
        self, model: str | None, path: str, content: bytes, kind: str
    ) -> PassedOn | None:
        """Return the answer of the first address that has a route.

        Only addresses that list the model are asked, if any does.

        Raises:
            ApiError: an address refused or failed.
        """
        await self._refresh(again=False)
        healthy = [each for each in self.addresses if each.healthy]
        listing = [each for each in healthy if model is not None and each.lists(model)]
        for each in listing or healthy:
            with each.count_request():
                answer = await each.client.pass_on(path, content, kind)
            if answer is not None:
                return answer
        return None

    async def _refresh(self, again: bool) -> None:
        """Ask the addresses that are not known yet or, if none is healthy, all."""
        if len(self.addresses) > 1 and self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        asked = [
            each
            for each in self.addresses
            if (again and each.healthy) or not (each.abilities or each.healthy or not each.due)
        ]
        problems = [*await asyncio.gather(*(each.check() for each in asked))]
        if any(each.healthy for each in self.addresses):
            return
        rest = [each for each in self.addresses if each not in asked]
        problems += await asyncio.gather(*(each.check() for each in rest))
        if not any(each.healthy for each in self.addresses):
            raise next((each for each in problems if each is not None), unreachable())

    async def _watch(self) -> None:
        """Check the addresses at intervals and after a failure; never return."""
        while True:
            due = [each for each in self.addresses if each.due]
            await asyncio.gather(*(each.check() for each in due))
            self.failure.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(SICK_SECONDS):
                    await self.failure.wait()


class PoolClient:
    """A client of a pool's addresses that have one model."""

    def __init__(self, pool: ModelPool, model: str, able: Sequence[PooledAddress]) -> None:
        self._pool = pool
        self._able = able
        known = [each.abilities for each in able if each.abilities is not None]
        self.abilities = known[0] if len(pool.addresses) == 1 else _common(model, known)

    async def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, estimated if the address has no tokenizer."""
        return await self._ask(lambda client: client.count_tokens(text))

    async def count_prompt(self, body: dict[str, Any]) -> int | None:
        """Return a conversation's tokens in the model's template if the address reports them."""
        return await self._ask(lambda client: client.count_prompt(body), _conversation_key(body))

    async def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the vectors of texts.

        Raises:
            ApiError: 400, this model has none; or every address refused or failed.
        """
        return await self._ask(lambda client: client.embeddings(body))

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the chunks of one completion. Closing the iterator closes the connection.

        Raises:
            ApiError: every address refused or failed before a token, or one broke off after it.
        """
        left = list(self._able)
        while True:
            address = self._take(left, _conversation_key(body))
            # A request waits for the last address left.
            seconds = self._pool.first_token_seconds if left else None
            begun, waited = False, 0.0
            try:
                with address.count_request():
                    async with aclosing(address.client.stream(body)) as chunks:
                        async with aclosing(_read_to_token(chunks, seconds)) as first:
                            async for chunk in first:
                                yield chunk
                        begun = True
                        async for chunk in chunks:
                            yield chunk
                return
            except TimeoutError:
                waited = seconds or 0
                problem = unreachable()
            except ApiError as error:
                problem = error
            self._note(address, problem, waited)
            if begun or not left or problem.status == 400:
                raise problem

    async def _ask(self, ask: Callable[[ModelClient], Awaitable[T]], beginning: str = "") -> T:
        left = list(self._able)
        while True:
            address = self._take(left, beginning)
            try:
                with address.count_request():
                    return await ask(address.client)
            except ApiError as error:
                self._note(address, error)
                if not left or error.status == 400:
                    raise

    def _take(self, left: list[PooledAddress], beginning: str) -> PooledAddress:
        """Take the least busy address out of a list.

        Among equals, an address that got the same beginning before may have it in its cache.
        """
        best = min(
            left,
            key=lambda each: (
                each.resting or not each.healthy,
                each.under_way,
                _rank(each.name, beginning),
            ),
        )
        left.remove(best)
        return best

    def _note(self, address: PooledAddress, problem: ApiError, waited: float = 0) -> None:
        if problem.status != 400:
            log.warning("the model address %s failed: %s", address.name, problem.message)
            address.record_failure(problem, waited)
            self._pool.failure.set()


async def _read_to_token(
    chunks: AsyncGenerator[dict[str, Any]], seconds: float | None
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the chunks up to the first with a token; each may take some seconds.

    Raises:
        TimeoutError: none came in time.
    """
    while True:
        try:
            async with asyncio.timeout(seconds):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        yield chunk
        if _has_token(chunk):
            return


def _has_token(chunk: dict[str, Any]) -> bool:
    for choice in chunk.get("choices") or ():
        delta = choice.get("delta") or {}
        if choice.get("finish_reason") or any(
            delta.get(name) for name in ("content", "reasoning_content", "tool_calls")
        ):
            return True
    return False


def _conversation_key(body: dict[str, Any]) -> str:
    """Return a chat's beginning up to its first question, shortened: a key that all its turns
    share.
    """
    said = []
    for message in body.get("messages", ()):
        text = message.get("content")
        said.append(text[:_BEGINNING] if isinstance(text, str) else "")
        if message.get("role") == "user":
            break
    return json.dumps(said)


def _rank(name: str, beginning: str) -> bytes:
    """Return the rank of an address for a chat, spread evenly over chats that hardly differ."""
    # A CRC would put similar texts on the same side.
    return hashlib.blake2b(f"{name}\n{beginning}".encode(errors="replace"), digest_size=8).digest()


def _common(model: str, abilities: Iterable[Abilities]) -> Abilities:
    """Return the abilities that all addresses of a model share: a plan must hold for each."""
    every = list(abilities)
    contexts = [length for each in every if (length := each.context_of(model))]
    return Abilities(
        models={model: min(contexts, default=None)},
        tools=_all_or_unknown(each.tools for each in every),
        images=_all_or_unknown(each.images for each in every),
        llama=all(each.llama for each in every),
    )


def _all_or_unknown(abilities: Iterable[bool | None]) -> bool | None:
    """Return False if any value is False, None if any is not known."""
    known = list(abilities)
    return None if None in known and False not in known else all(known)


def _away_error(model: str, addresses: Sequence[PooledAddress]) -> ApiError:
    if len(addresses) == 1:
        return unreachable()
    return ApiError(
        503,
        f"No address of the language model {model[:80]} answers. Try again; if that fails too, see"
        " the server's log and check the addresses.",
        headers={"retry-after": f"{SICK_SECONDS:.0f}"},
    )


def _without_user(url: str) -> str:
    """Return an address without its user, for the log."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


async def _cancel(task: asyncio.Task[Any] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.wait({task})
