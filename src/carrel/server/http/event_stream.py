"""Streams of events, closed with their caller."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class EventStream(StreamingResponse):
    """A stream of events whose source is closed as soon as the caller disconnects."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str], source: AsyncGenerator[Any]) -> None:
        super().__init__(events, headers={"cache-control": "no-store"})
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._source):
            await super().__call__(scope, receive, send)
