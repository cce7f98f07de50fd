"""Conversations of a caller: started, continued, restarted and written whole."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from carrel.server.completions.responder import Responder
from carrel.server.conversations.entries import as_entries
from carrel.server.conversations.turn import Complete, Speaker, Turn
from carrel.server.errors import ApiError
from carrel.server.records import agents, conversations
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.ids import new_id
from carrel.wire.generation.agents import CompletionArgs
from carrel.wire.generation.conversations import (
    Conversation,
    ConversationAppend,
    ConversationRestart,
    ConversationStart,
    ConversationWrite,
    Entry,
    FunctionCallEntry,
    FunctionResultEntry,
    HandoffEntry,
)
from carrel.wire.generation.tools import FunctionCall

RunAllowed = Callable[[Responder, FunctionCall], Awaitable[str]]
"""Runs a call that the caller has allowed, and returns its result."""

_DENIED = "Error: the person does not allow this call."


@dataclass(frozen=True)
class _Talk:
    """The state that an answer continues: a conversation, its entries, and the new message.

    `kept` is the number of stored entries; None when the conversation is new.
    """

    conversation: Conversation
    before: Sequence[Entry]
    said: Sequence[Entry]
    kept: int | None


@dataclass(frozen=True)
class ConversationService:
    """The conversations of one caller."""

    _database: Database
    _caller: Caller
    _complete: Complete
    _run_allowed: RunAllowed

    async def start(self, body: ConversationStart) -> Turn:
        """Answer in a new conversation.

        Raises:
            ApiError: 400, this server does not run what it asks for.
        """
        _refuse("guardrails", body.guardrails)
        now = datetime.now(UTC)
        conversation = Conversation(**body.body(), id=new_id(), created_at=now, updated_at=now)
        return await self._answer(_Talk(conversation, [], as_entries(body.inputs, []), None), body)

    async def append(self, id: str, body: ConversationAppend) -> Turn:
        """Answer in a conversation that exists.

        Raises:
            ApiError: 400, this server does not run what it asks for.
        """
        conversation, before = await self.read(id)
        before = await self._decide(conversation, before, body)
        said = as_entries(body.inputs, before)
        return await self._answer(_Talk(conversation, before, said, len(before)), body)

    async def restart(self, id: str, body: ConversationRestart) -> Turn:
        """Answer in a new conversation that begins with entries of another, up to one of them.

        Raises:
            ApiError: 404, there is no such entry; 400, it asks for something impossible.
        """
        _refuse("guardrails", body.guardrails)
        conversation, entries = await self.read(id)
        ids = [entry.id for entry in entries]
        if body.from_entry_id not in ids:
            raise ApiError(404, f"The conversation has no entry {body.from_entry_id[:80]!r}.")
        before = entries[: ids.index(body.from_entry_id) + 1]
        changes: dict[str, Any] = {"id": new_id(), "created_at": datetime.now(UTC)}
        if body.metadata is not None:
            changes["metadata"] = body.metadata
        if body.agent_version is not None:
            if conversation.agent_id is None:
                raise ApiError(
                    400, "This conversation is with a model, which has no agent_version."
                )
            changes["agent_version"] = body.agent_version
        new = conversation.model_copy(update=changes)
        return await self._answer(_Talk(new, before, as_entries(body.inputs, before), None), body)

    async def write(self, id: str, body: ConversationWrite) -> Conversation:
        """Write a conversation whole, or after the entries that it keeps."""
        before: list[Entry] = []
        if body.keep:
            _, before = await self.read(id)
        entries = as_entries(body.entries, before[: body.keep])
        written = body.model_copy(update={"entries": entries})
        return await self._database.write(conversations.write, self._caller, id, written)

    async def read(self, id: str) -> tuple[Conversation, list[Entry]]:
        """Return a conversation and its entries."""

        def read(connection: sa.Connection) -> tuple[Conversation, list[Entry]]:
            return (
                conversations.get(connection, self._caller, id),
                conversations.entries(connection, self._caller, id),
            )

        return await self._database.read(read)

    async def _answer(
        self, talk: _Talk, body: ConversationStart | ConversationAppend | ConversationRestart
    ) -> Turn:
        def save(connection: sa.Connection, outputs: Sequence[Entry]) -> None:
            said = [*talk.said, *outputs]
            if talk.kept is None:
                entries = [*talk.before, *said]
                conversations.create(connection, self._caller, talk.conversation, entries)
            else:
                id = talk.conversation.id
                conversations.extend(connection, self._caller, id, talk.kept, said)

        async def keep(outputs: Sequence[Entry]) -> None:
            if body.store:
                await self._database.write(save, outputs)

        speaker = await self._speaker(talk)
        return Turn(
            talk.conversation.id,
            [*talk.before, *talk.said],
            speaker.with_arguments(body.completion_args),
            body.completion_args,
            body.handoff_execution,
            self._complete,
            lambda id: self._database.read(agents.get, self._caller, id),
            keep,
        )

    async def _decide(
        self, conversation: Conversation, before: list[Entry], body: ConversationAppend
    ) -> list[Entry]:
        """Run the pending calls that are allowed; return the entries with all results.

        They are kept before the answer is begun, so that no call is run twice.

        Raises:
            ApiError: 400, a decided call is not pending, or a pending call is not decided.
        """
        given = {one.tool_call_id: one.confirmation for one in body.tool_confirmations or ()}
        done = {one.tool_call_id for one in before if isinstance(one, FunctionResultEntry)}
        pending = {
            entry.tool_call_id: (at, entry)
            for at, entry in enumerate(before)
            if isinstance(entry, FunctionCallEntry)
            and entry.confirmation_status == "pending"
            and entry.tool_call_id not in done
        }
        for id in given.keys() ^ pending.keys():
            message = f"There is no pending call {id[:80]!r}."
            if id in pending:
                message = f"The call {id!r} is pending. Allow or deny it in tool_confirmations."
            raise ApiError(400, message, param="tool_confirmations")
        if not pending:
            return before
        decided: dict[int, Entry] = {}
        results: list[Entry] = []
        speaker = await self._speaker(_Talk(conversation, before, [], len(before)))
        for id, (at, entry) in pending.items():
            is_allowed = given[id] == "allow"
            status = "allowed" if is_allowed else "denied"
            decided[at] = entry.model_copy(update={"confirmation_status": status})
            result = _DENIED
            if is_allowed:
                result = await self._run_allowed(speaker.responder, entry.function)
            results.append(FunctionResultEntry(tool_call_id=id, result=result))
        results = as_entries(results, before)
        if body.store:

            def write(connection: sa.Connection) -> None:
                known = len(before)
                conversations.decide(connection, self._caller, conversation.id, known, decided)
                conversations.extend(connection, self._caller, conversation.id, known, results)

            await self._database.write(write)
        return [*(decided.get(at, entry) for at, entry in enumerate(before)), *results]

    async def _speaker(self, talk: _Talk) -> Speaker:
        """Return who answers: the agent of the last handoff, else the conversation's own."""
        conversation = talk.conversation
        if conversation.agent_id is None:
            arguments = CompletionArgs.model_validate(conversation.completion_args or {})
            return Speaker(
                Responder.of_model(
                    conversation.model or "",
                    conversation.instructions,
                    conversation.tools or [],
                    arguments,
                )
            )
        id, version = conversation.agent_id, conversation.agent_version
        said = (*talk.before, *talk.said)
        handoffs = [entry for entry in said if isinstance(entry, HandoffEntry)]
        if handoffs and handoffs[-1].next_agent_id != id:
            id, version = handoffs[-1].next_agent_id, None
        agent = await self._database.read(agents.get, self._caller, id, version)
        return Speaker(Responder.of_agent(agent), agent)


def _refuse(name: str, value: object) -> None:
    if value:
        raise ApiError(400, f"This server does not support {name}. Leave it out.", param=name)
