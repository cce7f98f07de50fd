"""Answers of a model in the Responses shape."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from carrel.client.http.area import Area
from carrel.client.http.events import events
from carrel.client.http.keywords import fields_of
from carrel.wire.generation.responses import ModelResponse, ResponseEvent, ResponseRequest

_PATH = "/v1/responses"
_ENDS = frozenset({"response.completed", "response.incomplete"})


class Responses(Area):
    """`/v1/responses`: a model asked directly."""

    @fields_of(ResponseRequest)
    async def create(self, request: ResponseRequest) -> ModelResponse:
        """Return the whole answer; `request` as a ResponseRequest or as keywords."""
        body = {**request.body(), "stream": False}
        return await self._call(ModelResponse, "POST", _PATH, body=body, unhurried=True)

    @fields_of(ResponseRequest)
    def stream(
        self, request: ResponseRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[ResponseEvent]]:
        """Open the answer's events during its generation; `request` as a ResponseRequest or as
        keywords.

            async with client.responses.stream(model="smollm2", input="Hello") as events:
                async for event in events: ...

        The iterator raises Unreachable if the answer is interrupted, and ServiceError if the
        service fails while it answers.
        """
        return events(self._transport, _PATH, request.body(), ResponseEvent, _ENDS)
