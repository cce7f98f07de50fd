"""Conversations (beta): started, continued, restarted, read, deleted."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from carrel.server.conversations.service import ConversationService
from carrel.server.conversations.turn import Turn, event
from carrel.server.errors import ApiError
from carrel.server.http.errors import api_error
from carrel.server.http.openapi import EXTENSION, with_stream
from carrel.server.records import conversations
from carrel.server.records.errors import RecordError
from carrel.server.routes.dependencies import Context, InQuery
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

_STREAMED = with_stream(
    ConversationEvent,
    besides=", named by its type. The last is `conversation.response.done`, or"
    " `conversation.response.error` of an answer that fails",
)


async def _service(context: Context) -> ConversationService:
    return ConversationService(
        context.server.database,
        context.caller,
        lambda responder, asked: context.server.completions.stream(
            replace(context.completion(responder, asked), can_confirm=True), progress=True
        ),
        context.server.completions.run_allowed,
    )


CurrentService = Annotated[ConversationService, Depends(_service)]


@router.post("", response_model=ConversationResponse, responses=_STREAMED)
async def start(body: ConversationStart, context: Context, service: CurrentService) -> Response:
    return await _send(await service.start(body), context, stream=body.stream)


@router.get("")
async def list_conversations(
    context: Context, query: InQuery[ConversationQuery]
) -> list[Conversation]:
    return await context.read(conversations.page, query)


@router.get("/{conversation_id}")
async def get_conversation(conversation_id: str, context: Context) -> Conversation:
    return await context.read(conversations.get, conversation_id)


@router.put("/{conversation_id}", openapi_extra=EXTENSION)
async def write_conversation(
    conversation_id: Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,36}$")],
    body: ConversationWrite,
    service: CurrentService,
) -> Conversation:
    return await service.write(conversation_id, body)


@router.delete("/{conversation_id}", status_code=204)
async def delete_conversation(conversation_id: str, context: Context) -> None:
    await context.write(conversations.delete, conversation_id, trash_days=context.trash_days)


@router.post("/{conversation_id}", response_model=ConversationResponse, responses=_STREAMED)
async def append(
    conversation_id: str, body: ConversationAppend, context: Context, service: CurrentService
) -> Response:
    return await _send(await service.append(conversation_id, body), context, stream=body.stream)


@router.post("/{conversation_id}/restart", response_model=ConversationResponse, responses=_STREAMED)
async def restart(
    conversation_id: str, body: ConversationRestart, context: Context, service: CurrentService
) -> Response:
    return await _send(await service.restart(conversation_id, body), context, stream=body.stream)


@router.get("/{conversation_id}/history", response_model_exclude_none=True)
async def history(conversation_id: str, service: CurrentService) -> ConversationHistory:
    _, entries = await service.read(conversation_id)
    return ConversationHistory(conversation_id=conversation_id, entries=entries)


@router.get("/{conversation_id}/messages", response_model_exclude_none=True)
async def messages(conversation_id: str, service: CurrentService) -> ConversationMessages:
    _, entries = await service.read(conversation_id)
    said = [entry for entry in entries if isinstance(entry, MessageInput | MessageOutput)]
    return ConversationMessages(conversation_id=conversation_id, messages=said)


async def _send(answer: Turn, context: Context, *, stream: bool) -> Response:
    events = answer.events()
    if stream:
        return await context.stream(events, lambda given: _texts(context, answer, given))
    await context.cancel_on_disconnect(_drain(context, answer, events))
    whole = answer.whole().model_dump_json(exclude_none=True)
    return Response(whole, media_type="application/json")


async def _drain(context: Context, answer: Turn, events: AsyncGenerator[ConversationEvent]) -> None:
    async for _ in events:
        context.spend(answer.usage.total_tokens)


async def _texts(
    context: Context, answer: Turn, events: AsyncGenerator[ConversationEvent]
) -> AsyncGenerator[str]:
    sent = 0
    try:
        async for one in events:
            # On early disconnect, count about one token per event.
            sent += 1
            done = one.type == "conversation.response.done"
            context.spend(answer.usage.total_tokens if done else sent)
            yield _text(one)
    except (ApiError, RecordError) as error:
        code = api_error(error).status
        yield _text(event("conversation.response.error", message=error.message, code=code))


def _text(one: ConversationEvent) -> str:
    return f"event: {one.type}\ndata: {one.model_dump_json(exclude_none=True)}\n\n"
