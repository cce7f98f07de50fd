"""A client of the embedded model, whose process is started anew when it hangs or dies.

Requests that it had not begun to answer are sent again, but for the one that it ended on.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from carrel.server.errors import ApiError
from carrel.server.models.address import Abilities, ModelClient
from carrel.server.models.process import EmbeddedProcess

log = logging.getLogger(__name__)

_CONSTRAINTS = ("response_format", "tools", "grammar")
_TIMES_ASKED = 4
"""Attempts of a request if the process ends before the answer has begun."""
_RETRY_SECONDS = 1


class EmbeddedClient:
    """A model client with the calls of `ModelClient`, for the embedded model."""

    def __init__(
        self, http: httpx.AsyncBaseTransport, process: EmbeddedProcess, suspects: "Suspects"
    ) -> None:
        self._http = http
        self._process = process
        self._suspects = suspects

    async def abilities(self) -> Abilities:
        """Return the properties that the model reports."""
        async with self._current() as client:
            return await client.abilities()

    async def count_tokens(self, text: str) -> int:
        """Return the tokens of a text."""
        async with self._current() as client:
            return await client.count_tokens(text)

    async def count_prompt(self, body: dict[str, Any]) -> int | None:
        """Return the tokens of a conversation in the model's template."""
        async with self._current() as client:
            return await client.count_prompt(body)

    async def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the vectors of texts.

        Raises:
            ApiError: 400, this model has none.
        """
        async with self._current() as client:
            return await client.embeddings(body)

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the chunks of one completion. Closing the iterator closes the connection.

        Raises:
            ApiError: the model refused or failed.
        """
        for left in reversed(range(_TIMES_ASKED)):
            async with self._process.address() as address:
                client = ModelClient(self._http, address)
                with self._suspects.note_request(address.url, body) as asked:
                    try:
                        async with aclosing(client.stream(body)) as chunks:
                            async for chunk in chunks:
                                self._suspects.begin(asked)
                                yield chunk
                        return
                    except ApiError as error:
                        # A refusal, or the end of an answer that others have seen.
                        if error.status != 503 or asked.begun or not left:
                            raise
                        if self._suspects.blames(asked):
                            log.warning("the language model's process ended on a request")
                            raise _restarted_error() from error
                # A dying server takes requests for some milliseconds: they would all fail.
                await self._process.wait_for_end(address, _RETRY_SECONDS)

    @asynccontextmanager
    async def _current(self) -> AsyncIterator[ModelClient]:
        async with self._process.address() as address:
            yield ModelClient(self._http, address)


def _restarted_error() -> ApiError:
    return ApiError(
        503,
        "The language model did not come back from this request, and was started anew. Simplify"
        " its JSON schema or its tools, or shorten it.",
        headers={"retry-after": str(_RETRY_SECONDS)},
    )


@dataclass(eq=False)
class Asked:
    """A request to one run of the process."""

    run: str
    constrained: bool
    """Whether a grammar constrains its answer, in which an engine may get lost."""
    begun: bool = False
    """Whether the process has answered anything."""
    abandoned: bool = False


class Suspects:
    """The requests that a process has not begun to answer, the oldest first."""

    def __init__(self) -> None:
        self._asked: list[Asked] = []
        self._blamed: Asked | None = None

    @contextmanager
    def note_request(self, run: str, body: dict[str, Any]) -> Iterator[Asked]:
        """Note a request while it is under way.

        One that is abandoned before it began stays a suspect until the process answers another.
        """
        asked = Asked(run, any(body.get(name) for name in _CONSTRAINTS))
        self._asked.append(asked)
        try:
            yield asked
        except (GeneratorExit, asyncio.CancelledError):
            asked.abandoned = not asked.begun
            raise
        finally:
            if not asked.abandoned:
                self._asked.remove(asked)

    def begin(self, asked: Asked) -> None:
        """Note that the process answers a request: the abandoned ones did not stop it."""
        if not asked.begun:
            asked.begun = True
            self._asked = [other for other in self._asked if not other.abandoned]

    def blames(self, asked: Asked) -> bool:
        """Return whether this request, of all that were not begun, probably ended the process."""
        if self._blamed is None or self._blamed.run != asked.run:
            waiting = [other for other in self._asked if other.run == asked.run and not other.begun]
            self._blamed = min(waiting, key=lambda other: not other.constrained, default=asked)
        return self._blamed is asked
