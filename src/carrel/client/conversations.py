"""Conversations that a service keeps."""

import builtins
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from carrel.client.http.events import events
from carrel.client.http.keywords import fields_of
from carrel.client.http.paging import PAGE, every
from carrel.client.http.transport import Transport, path_of
from carrel.wire.generation.conversations import (
    Conversation,
    ConversationAppend,
    ConversationEvent,
    ConversationHistory,
    ConversationMessages,
    ConversationQuery,
    ConversationResponse,
    ConversationRestart,
    ConversationStart,
    ConversationWrite,
)

_PATH = "/v1/conversations"
_ONE = f"{_PATH}/{{}}"
_ENDS = frozenset({"conversation.response.done"})


class Conversations:
    """`/v1/conversations`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @fields_of(ConversationStart)
    async def start(self, start: ConversationStart) -> ConversationResponse:
        """Begin a conversation and answer whole, however long it takes.

        `start`: a ConversationStart, or its fields as keywords.
        """
        return await self._answer(_PATH, start)

    @fields_of(ConversationAppend)
    async def append(
        self, conversation_id: str, append: ConversationAppend
    ) -> ConversationResponse:
        """Continue a conversation; `append` as a ConversationAppend or as keywords."""
        return await self._answer(path_of(_ONE, conversation_id), append)

    @fields_of(ConversationRestart)
    async def restart(
        self, conversation_id: str, restart: ConversationRestart
    ) -> ConversationResponse:
        """Begin another conversation with the entries of one up to `from_entry_id`.

        `restart`: a ConversationRestart, or its fields as keywords.
        """
        return await self._answer(path_of(f"{_ONE}/restart", conversation_id), restart)

    @fields_of(ConversationStart)
    @asynccontextmanager
    async def stream_start(
        self, start: ConversationStart
    ) -> AsyncIterator[AsyncIterator[ConversationEvent]]:
        """Begin a conversation and yield the answer's events as it is written.

            async with client.conversations.stream_start(agent_id=id, inputs="Hi") as events:
                async for event in events: ...

        `start`: a ConversationStart, or its fields as keywords. Leaving closes the connection, and
        an answer that is not complete by then is not kept. The iterator raises Unreachable if the
        answer breaks off, and ServiceError if the service fails while it answers.
        """
        async with self._events(_PATH, start) as found:
            yield found

    @fields_of(ConversationAppend)
    @asynccontextmanager
    async def stream_append(
        self, conversation_id: str, append: ConversationAppend
    ) -> AsyncIterator[AsyncIterator[ConversationEvent]]:
        """Continue a conversation; events and errors are those of `stream_start`."""
        async with self._events(path_of(_ONE, conversation_id), append) as found:
            yield found

    @fields_of(ConversationRestart)
    @asynccontextmanager
    async def stream_restart(
        self, conversation_id: str, restart: ConversationRestart
    ) -> AsyncIterator[AsyncIterator[ConversationEvent]]:
        """Restart a conversation; events and errors are those of `stream_start`."""
        async with self._events(path_of(f"{_ONE}/restart", conversation_id), restart) as found:
            yield found

    async def list(
        self, *, page: int = 0, page_size: int = PAGE, metadata: dict[str, Any] | None = None
    ) -> builtins.list[Conversation]:
        """Return a page of the caller's conversations, newest first; pages count from 0."""
        query = ConversationQuery(page=page, page_size=page_size, metadata=metadata)
        return await self._transport.call(builtins.list[Conversation], "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[Conversation]:
        """Return all conversations of the caller, newest first, page after page."""

        async def page(number: int) -> builtins.list[Conversation]:
            return await self.list(page=number)

        return every(page, lambda conversation: conversation.id)

    async def get(self, conversation_id: str) -> Conversation:
        """Return a conversation without its entries."""
        return await self._transport.call(Conversation, "GET", path_of(_ONE, conversation_id))

    async def messages(self, conversation_id: str) -> ConversationMessages:
        """Return the messages of a conversation, in order."""
        path = path_of(f"{_ONE}/messages", conversation_id)
        return await self._transport.call(ConversationMessages, "GET", path)

    async def history(self, conversation_id: str) -> ConversationHistory:
        """Return all entries of a conversation, in order."""
        path = path_of(f"{_ONE}/history", conversation_id)
        return await self._transport.call(ConversationHistory, "GET", path)

    async def write(self, conversation_id: str, written: ConversationWrite) -> Conversation:
        """Add a conversation, or replace it, without an answer.

        An extension: other services refuse it with a status of 404 or 405.

        Raises:
            ServiceError: 409, it was changed since its `updated_at`.
        """
        return await self._transport.call(
            Conversation, "PUT", path_of(_ONE, conversation_id), body=written.body()
        )

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its entries."""
        await self._transport.send("DELETE", path_of(_ONE, conversation_id))

    def _events(
        self, path: str, asked: ConversationStart | ConversationAppend | ConversationRestart
    ) -> AbstractAsyncContextManager[AsyncIterator[ConversationEvent]]:
        return events(self._transport, path, asked.body(), ConversationEvent, _ENDS)

    async def _answer(
        self, path: str, asked: ConversationStart | ConversationAppend | ConversationRestart
    ) -> ConversationResponse:
        body = {**asked.body(), "stream": False}
        return await self._transport.call(
            ConversationResponse, "POST", path, body=body, unhurried=True
        )
