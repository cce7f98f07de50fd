"""Conversations (beta): started, continued, restarted, read, deleted."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.conversations.service import Answer, ConversationService
from carrel.server.conversations.turn import event
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.errors import api_error
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import EXTENSION, streamed
from carrel.server.records import conversations
from carrel.server.records.errors import RecordError
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    completion_call,
    query_of,
)
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
    MessageInput,
    MessageOutput,
)

router = APIRouter(prefix="/v1/conversations")

_STREAMED = streamed(
    ConversationEvent,
    besides=", named by its type. The last is `conversation.response.done`, or"
    " `conversation.response.error` of an answer that fails",
)


async def _service(server: CurrentServer, caller: CurrentCaller) -> ConversationService:
    return ConversationService(
        server.database,
        caller,
        lambda responder, asked: server.completions.stream(
            completion_call(responder, asked, server, caller), progress=True
        ),
    )


CurrentService = Annotated[ConversationService, Depends(_service)]


@router.post("", response_model=ConversationResponse, responses=_STREAMED)
async def start(body: ConversationStart, request: Request, service: CurrentService) -> Response:
    return await _send(await service.start(body), request, stream=body.stream)


@router.get("")
async def list_conversations(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[ConversationQuery, Depends(query_of(ConversationQuery))],
) -> list[Conversation]:
    return await server.database.read(conversations.page, caller, query)


@router.get("/{conversation_id}")
async def get_conversation(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> Conversation:
    return await server.database.read(conversations.get, caller, conversation_id)


@router.put("/{conversation_id}", openapi_extra=EXTENSION)
async def write_conversation(
    conversation_id: Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,36}$")],
    body: ConversationWrite,
    service: CurrentService,
) -> Conversation:
    return await service.write(conversation_id, body)


@router.delete("/{conversation_id}", status_code=204)
async def delete_conversation(
    conversation_id: str, server: CurrentServer, caller: CurrentCaller
) -> None:
    await server.database.write(
        conversations.delete, caller, conversation_id, trash_days=server.settings.limits.trash_days
    )


@router.post("/{conversation_id}", response_model=ConversationResponse, responses=_STREAMED)
async def append(
    conversation_id: str, body: ConversationAppend, request: Request, service: CurrentService
) -> Response:
    return await _send(await service.append(conversation_id, body), request, stream=body.stream)


@router.post("/{conversation_id}/restart", response_model=ConversationResponse, responses=_STREAMED)
async def restart(
    conversation_id: str, body: ConversationRestart, request: Request, service: CurrentService
) -> Response:
    return await _send(await service.restart(conversation_id, body), request, stream=body.stream)


@router.get("/{conversation_id}/history", response_model_exclude_none=True)
async def history(conversation_id: str, service: CurrentService) -> ConversationHistory:
    _, entries = await service.read(conversation_id)
    return ConversationHistory(conversation_id=conversation_id, entries=entries)


@router.get("/{conversation_id}/messages", response_model_exclude_none=True)
async def messages(conversation_id: str, service: CurrentService) -> ConversationMessages:
    _, entries = await service.read(conversation_id)
    said = [entry for entry in entries if isinstance(entry, MessageInput | MessageOutput)]
    return ConversationMessages(conversation_id=conversation_id, messages=said)


async def _send(answer: Answer, request: Request, *, stream: bool) -> Response:
    events = answer.events()
    try:
        if stream:
            # Wait for the first event: an error before it still gets a status of its own.
            first = await unless_disconnected(request, anext(events))
            return EventStream(_texts(request, answer, first, events), events)
        await unless_disconnected(request, _drain(request, answer, events))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    whole = answer.whole().model_dump_json(exclude_none=True)
    return Response(whole, media_type="application/json")


async def _drain(
    request: Request, answer: Answer, events: AsyncGenerator[ConversationEvent]
) -> None:
    async for _ in events:
        request.state.tokens = answer.usage.total_tokens


async def _texts(
    request: Request,
    answer: Answer,
    first: ConversationEvent,
    events: AsyncGenerator[ConversationEvent],
) -> AsyncGenerator[str]:
    yield _text(first)
    sent = 1
    try:
        async for one in events:
            # On early disconnect, count about one token per event.
            sent += 1
            done = one.type == "conversation.response.done"
            request.state.tokens = answer.usage.total_tokens if done else sent
            yield _text(one)
    except (ApiError, RecordError) as error:
        code = api_error(error).status
        yield _text(event("conversation.response.error", message=error.message, code=code))


def _text(one: ConversationEvent) -> str:
    return f"event: {one.type}\ndata: {one.model_dump_json(exclude_none=True)}\n\n"
