"""Agent completions, whole or as a stream."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import httpx

from carrel.client.http.area import Area
from carrel.client.http.errors import ServiceError, Unreachable
from carrel.client.http.events import EVENT_STREAM, FAILED, read_events
from carrel.client.http.keywords import fields_of
from carrel.client.http.transport import parse
from carrel.text import clean_text
from carrel.wire.generation.completions import (
    Completion,
    CompletionChunk,
    CompletionRequest,
    Progress,
)

_PATH = "/v1/agents/completions"

OnProgress = Callable[[Progress], object]


class Completions(Area):
    """`/v1/agents/completions`."""

    @fields_of(CompletionRequest)
    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the whole answer, without a timeout.

        `request`: a CompletionRequest, or its fields as keywords.
        """
        body = {**request.body(), "stream": False}
        return await self._call(Completion, "POST", _PATH, body=body, unhurried=True)

    @fields_of(CompletionRequest)
    @asynccontextmanager
    async def stream(
        self, request: CompletionRequest, on_progress: OnProgress | None = None
    ) -> AsyncIterator[AsyncIterator[CompletionChunk]]:
        """Yield the answer's chunks as they are written; leaving closes the connection at once.

            async with client.completions.stream(request) as chunks:
                async for chunk in chunks: ...

        `request`: a CompletionRequest, or its fields as keywords.

        `on_progress` is called with each step before the first word, if the service reports any.

        The iterator raises Unreachable if the answer is interrupted, and ServiceError if the
        service fails while it answers.
        """
        async with (
            self._transport.open(
                "POST",
                _PATH,
                body={**request.body(), "stream": True},
                accept=EVENT_STREAM,
                prefer="progress" if on_progress else None,
                unhurried=True,
            ) as response,
            aclosing(_chunks(response, self._transport.host, on_progress)) as chunks,
        ):
            yield chunks


async def _chunks(
    response: httpx.Response, host: str, on_progress: OnProgress | None
) -> AsyncGenerator[CompletionChunk, None]:
    finished = False
    async with aclosing(read_events(response, host)) as events:
        async for event in events:
            if event.data == "[DONE]":
                return
            if event.event == "progress":
                if on_progress is not None:
                    on_progress(parse(Progress, event.data, f"POST {_PATH}"))
            elif event.data:
                chunk = _chunk(event.data, response.status_code)
                finished = finished or any(choice.finish_reason for choice in chunk.choices)
                yield chunk
                if any(choice.finish_reason == "error" for choice in chunk.choices):
                    raise ServiceError(FAILED, response.status_code)
    # Some services omit the last [DONE].
    if not finished:
        raise Unreachable(f"The answer of {host} broke off. Try again.")


def _chunk(data: str, status: int) -> CompletionChunk:
    """Parse a chunk of the answer.

    Raises:
        ServiceError: the event is an error, in this interface's shape or another's.
    """
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        said = None
    error = said if isinstance(said, dict) and said.get("object") == "error" else None
    if error is None and isinstance(said, dict):
        error = said.get("error")
    if error is not None:
        words = error.get("message") if isinstance(error, dict) else error
        sent = error.get("raw_status_code") if isinstance(error, dict) else None
        message = clean_text(words) if isinstance(words, str) else FAILED
        raise ServiceError(message, sent if isinstance(sent, int) else status)
    return parse(CompletionChunk, data, f"POST {_PATH}")
