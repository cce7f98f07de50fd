"""Conversations that a service stores."""

import builtins
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from carrel.client.http.area import Area, every
from carrel.client.http.events import events
from carrel.client.http.keywords import fields_of
from carrel.client.http.transport import path_of
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
_Asked = ConversationStart | ConversationAppend | ConversationRestart
_Events = AbstractAsyncContextManager[AsyncIterator[ConversationEvent]]
_ENDS = frozenset({"conversation.response.done"})


class Conversations(Area):
    """`/v1/conversations`."""

    @fields_of(ConversationStart)
    async def start(self, start: ConversationStart) -> ConversationResponse:
        """Begin a conversation and return the whole answer, without a timeout.

        `start`: a ConversationStart, or its fields as keywords.
        """
        return await self._answer(start, _PATH)

    @fields_of(ConversationAppend)
    async def append(
        self, conversation_id: str, append: ConversationAppend
    ) -> ConversationResponse:
        """Continue a conversation; `append` as a ConversationAppend or as keywords."""
        return await self._answer(append, _ONE, conversation_id)

    @fields_of(ConversationRestart)
    async def restart(
        self, conversation_id: str, restart: ConversationRestart
    ) -> ConversationResponse:
        """Begin another conversation from the entries of one up to and including `from_entry_id`.

        `restart`: a ConversationRestart, or its fields as keywords.
        """
        return await self._answer(restart, f"{_ONE}/restart", conversation_id)

    @fields_of(ConversationStart)
    def stream_start(self, start: ConversationStart) -> _Events:
        """Begin a conversation and open the answer's events during its generation.

            async with client.conversations.stream_start(agent_id=id, inputs="Hi") as events:
                async for event in events: ...

        `start`: a ConversationStart, or its fields as keywords. Leaving closes the connection and
        discards an incomplete answer. The iterator raises Unreachable if the answer is interrupted,
        and ServiceError if the service fails while it answers.
        """
        return self._events(start, _PATH)

    @fields_of(ConversationAppend)
    def stream_append(self, conversation_id: str, append: ConversationAppend) -> _Events:
        """Continue a conversation, with the events and errors of `stream_start`."""
        return self._events(append, _ONE, conversation_id)

    @fields_of(ConversationRestart)
    def stream_restart(self, conversation_id: str, restart: ConversationRestart) -> _Events:
        """Restart a conversation, with the events and errors of `stream_start`."""
        return self._events(restart, f"{_ONE}/restart", conversation_id)

    @fields_of(ConversationQuery)
    async def list(self, query: ConversationQuery) -> builtins.list[Conversation]:
        """Return a page of the caller's conversations, newest first; pages count from 0."""
        return await self._call(builtins.list[Conversation], "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[Conversation]:
        """Return all conversations of the caller, newest first, page by page."""
        return every(self.list, lambda conversation: conversation.id)

    async def get(self, conversation_id: str) -> Conversation:
        """Return a conversation without its entries."""
        return await self._call(Conversation, "GET", _ONE, conversation_id)

    async def messages(self, conversation_id: str) -> ConversationMessages:
        """Return the messages of a conversation, in order."""
        return await self._call(ConversationMessages, "GET", f"{_ONE}/messages", conversation_id)

    async def history(self, conversation_id: str) -> ConversationHistory:
        """Return all entries of a conversation, in order."""
        return await self._call(ConversationHistory, "GET", f"{_ONE}/history", conversation_id)

    async def write(self, conversation_id: str, written: ConversationWrite) -> Conversation:
        """Create or replace a conversation without an answer.

        An extension: other services refuse it with status 404 or 405.

        Raises:
            ServiceError: status 409, the conversation changed after its `updated_at`.
        """
        return await self._call(Conversation, "PUT", _ONE, conversation_id, body=written.body())

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its entries."""
        await self._send("DELETE", _ONE, conversation_id)

    def _events(self, asked: _Asked, path: str, *ids: str) -> _Events:
        sent = path_of(path, *ids)
        return events(self._transport, sent, asked.body(), ConversationEvent, _ENDS)

    async def _answer(self, asked: _Asked, path: str, *ids: str) -> ConversationResponse:
        body = {**asked.body(), "stream": False}
        return await self._call(ConversationResponse, "POST", path, *ids, body=body, unhurried=True)
