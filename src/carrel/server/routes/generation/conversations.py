"""Conversations (beta): started, continued, restarted, read, deleted."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.assembly import Server
from carrel.server.completions.responder import Responder
from carrel.server.conversations.entries import as_entries
from carrel.server.conversations.turn import Speaker, Turn, event
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.errors import api_error
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import EXTENSION, streamed
from carrel.server.records import agents, conversations
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import RecordError
from carrel.server.records.sql.ids import new_id
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    completion_call,
    query_of,
)
from carrel.wire.generation.agents import CompletionArgs
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
    Entry,
    HandoffEntry,
    MessageInput,
    MessageOutput,
)
from carrel.wire.generation.tools import FunctionTool, LibraryTool

router = APIRouter(prefix="/v1/conversations")

_STREAMED = streamed(
    ConversationEvent,
    besides=", named by its type. The last is `conversation.response.done`, or"
    " `conversation.response.error` of an answer that fails",
)


@dataclass(frozen=True)
class _Talk:
    """What an answer continues: a conversation, its entries, and what is said now.

    `kept` is the number of stored entries; None when the conversation is new.
    """

    conversation: Conversation
    before: Sequence[Entry]
    said: Sequence[Entry]
    kept: int | None


@router.post("", response_model=ConversationResponse, responses=_STREAMED)
async def start(
    body: ConversationStart, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    _refuse("guardrails", body.guardrails)
    for tool in body.tools or ():
        if not isinstance(tool, FunctionTool | LibraryTool):
            raise ApiError(400, f"This server does not run the tool {tool.type}. Leave it out.")
    now = datetime.now(UTC)
    conversation = Conversation(
        id=new_id(),
        created_at=now,
        updated_at=now,
        name=body.name,
        description=body.description,
        metadata=body.metadata,
        agent_id=body.agent_id,
        agent_version=body.agent_version,
        model=body.model,
        instructions=body.instructions,
        tools=[tool.body() for tool in body.tools] if body.tools else None,
        completion_args=body.completion_args.body() if body.completion_args else None,
    )
    talk = _Talk(conversation, [], as_entries(body.inputs, []), None)
    return await _answer(talk, body, request, server, caller)


@router.get("")
async def list_conversations(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[ConversationQuery, Depends(query_of(ConversationQuery))],
) -> list[Conversation]:
    return await server.database.read(partial(conversations.page, caller=caller, query=query))


@router.get("/{conversation_id}")
async def get_conversation(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> Conversation:
    return await server.database.read(partial(conversations.get, caller=caller, id=conversation_id))


@router.put("/{conversation_id}", openapi_extra=EXTENSION)
async def write_conversation(
    conversation_id: Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,36}$")],
    body: ConversationWrite,
    server: CurrentServer,
    caller: CurrentCaller,
) -> Conversation:
    before: list[Entry] = []
    if body.keep:
        _, before = await _stored(conversation_id, server, caller)
    entries = as_entries(body.entries, before[: body.keep])
    written = body.model_copy(update={"entries": entries})
    return await server.database.write(
        partial(conversations.write, caller=caller, id=conversation_id, written=written)
    )


@router.delete("/{conversation_id}", status_code=204)
async def delete_conversation(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> None:
    await server.database.write(
        partial(
            conversations.delete,
            caller=caller,
            id=conversation_id,
            trash_days=server.settings.limits.trash_days,
        )
    )


@router.post("/{conversation_id}", response_model=ConversationResponse, responses=_STREAMED)
async def append(
    conversation_id: str,
    body: ConversationAppend,
    request: Request,
    server: CurrentServer,
    caller: CurrentCaller,
) -> Response:
    _refuse("tool_confirmations", body.tool_confirmations)
    conversation, before = await _stored(conversation_id, server, caller)
    talk = _Talk(conversation, before, as_entries(body.inputs, before), len(before))
    return await _answer(talk, body, request, server, caller)


@router.post("/{conversation_id}/restart", response_model=ConversationResponse, responses=_STREAMED)
async def restart(
    conversation_id: str,
    body: ConversationRestart,
    request: Request,
    server: CurrentServer,
    caller: CurrentCaller,
) -> Response:
    _refuse("guardrails", body.guardrails)
    conversation, entries = await _stored(conversation_id, server, caller)
    ids = [entry.id for entry in entries]
    if body.from_entry_id not in ids:
        raise ApiError(404, f"The conversation has no entry {body.from_entry_id[:80]!r}.")
    before = entries[: ids.index(body.from_entry_id) + 1]
    changes: dict[str, Any] = {"id": new_id(), "created_at": datetime.now(UTC)}
    if body.metadata is not None:
        changes["metadata"] = body.metadata
    if body.agent_version is not None:
        if conversation.agent_id is None:
            raise ApiError(400, "This conversation is with a model, which has no agent_version.")
        changes["agent_version"] = body.agent_version
    talk = _Talk(
        conversation.model_copy(update=changes), before, as_entries(body.inputs, before), None
    )
    return await _answer(talk, body, request, server, caller)


@router.get("/{conversation_id}/history", response_model_exclude_none=True)
async def history(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> ConversationHistory:
    _, entries = await _stored(conversation_id, server, caller)
    return ConversationHistory(conversation_id=conversation_id, entries=entries)


@router.get("/{conversation_id}/messages", response_model_exclude_none=True)
async def messages(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> ConversationMessages:
    _, entries = await _stored(conversation_id, server, caller)
    said = [entry for entry in entries if isinstance(entry, MessageInput | MessageOutput)]
    return ConversationMessages(conversation_id=conversation_id, messages=said)


def _refuse(name: str, value: object) -> None:
    if value:
        raise ApiError(400, f"This server does not support {name}. Leave it out.", param=name)


async def _stored(id: str, server: Server, caller: Caller) -> tuple[Conversation, list[Entry]]:
    def read(connection: sa.Connection) -> tuple[Conversation, list[Entry]]:
        return (
            conversations.get(connection, caller, id),
            conversations.entries(connection, caller, id),
        )

    return await server.database.read(read)


async def _answer(
    talk: _Talk,
    body: ConversationStart | ConversationAppend | ConversationRestart,
    request: Request,
    server: Server,
    caller: Caller,
) -> Response:
    turn = Turn(
        talk.conversation.id,
        [*talk.before, *talk.said],
        await _speaker(talk, server, caller),
        arguments=body.completion_args,
        handoffs=body.handoff_execution,
        complete=lambda responder, asked: server.completions.stream(
            completion_call(responder, asked, server, caller), progress=True
        ),
        find_agent=lambda id: server.database.read(partial(agents.get, caller=caller, id=id)),
    )
    events = turn.events()

    async def keep() -> None:
        request.state.tokens = turn.usage.total_tokens
        if body.store:
            await server.database.write(partial(_keep, caller=caller, talk=talk, turn=turn))

    async def whole() -> None:
        async for _ in events:
            pass
        await keep()

    try:
        if body.stream:
            # Wait for the first event: an error before it still gets a status of its own.
            first = await unless_disconnected(request, anext(events))

            async def texts() -> AsyncGenerator[str]:
                yield _text(first)
                try:
                    sent = 1
                    async for one in events:
                        # On early disconnect, count about one token per event.
                        request.state.tokens = sent = sent + 1
                        yield _text(one)
                    await keep()
                except (ApiError, RecordError) as error:
                    code = api_error(error).status
                    yield _text(
                        event("conversation.response.error", message=error.message, code=code)
                    )
                    return
                yield _text(turn.done())

            return EventStream(texts(), events)
        await unless_disconnected(request, whole())
    except ClientDisconnect:
        return Response(status_code=LEFT)
    answer = ConversationResponse(
        conversation_id=talk.conversation.id, outputs=turn.outputs, usage=turn.usage
    )
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")


def _keep(connection: sa.Connection, caller: Caller, talk: _Talk, turn: Turn) -> None:
    said = [*talk.said, *turn.outputs]
    if talk.kept is None:
        conversations.create(connection, caller, talk.conversation, [*talk.before, *said])
    else:
        conversations.extend(connection, caller, talk.conversation.id, talk.kept, said)


async def _speaker(talk: _Talk, server: Server, caller: Caller) -> Speaker:
    """Return who answers: the agent of the last handoff, or the one the conversation is with."""
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
    handoffs = [entry for entry in (*talk.before, *talk.said) if isinstance(entry, HandoffEntry)]
    if handoffs and handoffs[-1].next_agent_id != id:
        id, version = handoffs[-1].next_agent_id, None
    agent = await server.database.read(partial(agents.get, caller=caller, id=id, version=version))
    return Speaker(Responder.of_agent(agent), agent)


def _text(one: ConversationEvent) -> str:
    return f"event: {one.type}\ndata: {one.model_dump_json(exclude_none=True)}\n\n"
