"""Answers streamed as typed events."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from carrel.client.http.errors import ServiceError, UnexpectedAnswer, Unreachable
from carrel.client.http.transport import Transport, parse
from carrel.text import clean_text
from carrel.wire.base import ResponseModel

EVENT_STREAM = "text/event-stream"
FAILED = "The service failed while it answered. Try again."

T = TypeVar("T", bound=ResponseModel)


@asynccontextmanager
async def events(
    transport: Transport, path: str, body: dict[str, Any], kind: type[T], ends: frozenset[str]
) -> AsyncIterator[AsyncIterator[T]]:
    """Yield the events of an answer; leaving closes the connection at once.

    `ends` are the types of final events. The iterator raises Unreachable if the answer is
    interrupted before one, and ServiceError if the service fails meanwhile.
    """
    asked = {**body, "stream": True}
    async with (
        transport.open("POST", path, body=asked, accept=EVENT_STREAM, unhurried=True) as response,
        aclosing(_events(response, transport.host, f"POST {path}", kind, ends)) as found,
    ):
        yield found


async def read_events(response: httpx.Response, host: str) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a stream, as they are.

    Raises:
        UnexpectedAnswer: the answer is not a stream.
    """
    async with aclosing(EventSource(response).aiter_sse()) as found:
        try:
            async for event in found:
                yield event
        except SSEError as error:
            raise UnexpectedAnswer(f"{host} did not answer with a stream.") from error


async def _events(
    response: httpx.Response, host: str, asked: str, kind: type[T], ends: frozenset[str]
) -> AsyncGenerator[T, None]:
    async with aclosing(read_events(response, host)) as found:
        async for event in found:
            if not event.data or event.data == "[DONE]":
                continue
            _check(event.data, response.status_code)
            one = parse(kind, event.data, asked)
            yield one
            if getattr(one, "type", None) in ends:
                return
    raise Unreachable(f"The answer of {host} broke off. Try again.")


def _check(data: str, status: int) -> None:
    """Raise ServiceError for an event that reports a failure."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict) or str(said.get("type")).rpartition(".")[2] not in (
        "error",
        "failed",
    ):
        return
    error = (said.get("response") or {}).get("error") or {}
    message = said.get("message") or error.get("message")
    code = said.get("code")
    words = clean_text(message) if isinstance(message, str) else FAILED
    raise ServiceError(words, code if isinstance(code, int) else status)
