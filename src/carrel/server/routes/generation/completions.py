"""Completions, by agents and by models asked directly."""

import json
from collections.abc import AsyncGenerator

from fastapi import APIRouter, Response

from carrel.server.completions.call import Batch
from carrel.server.completions.dialect import ChatBody
from carrel.server.completions.responder import Responder
from carrel.server.errors import ApiError
from carrel.server.http.errors import api_error
from carrel.server.http.openapi import with_stream
from carrel.server.http.preferences import preferences
from carrel.server.records import agents
from carrel.server.records.errors import RecordError
from carrel.server.routes.dependencies import Context, ignored_note, warn_of
from carrel.wire.generation.completions import (
    Completion,
    CompletionChunk,
    CompletionOptions,
    CompletionRequest,
    Progress,
)

router = APIRouter(prefix="/v1")

_NAMES: dict[type, str] = {Progress: "event: progress\n"}
"""The names of events other than chunks."""

_STREAMED = with_stream(CompletionChunk)


@router.post("/agents/completions", response_model=Completion, responses=_STREAMED)
async def complete(body: CompletionRequest, context: Context) -> Response:
    agent = await context.read(agents.get, body.agent_id)
    return await _answer(Responder.of_agent(agent), body, context)


@router.post("/chat/completions", response_model=Completion, responses=_STREAMED)
async def chat(body: ChatBody, context: Context) -> Response:
    # Of the two dialects that ask for reasoning_effort, one reads thinking as chunks.
    knows_chunks = "mistral" in context.request.headers.get("user-agent", "")
    responder = Responder.of_chat(body, knows_chunks=knows_chunks)
    answer = await _answer(responder, body, context)
    warn_of(ignored_note(body.ignored), answer)
    return answer


async def _answer(responder: Responder, asked: CompletionOptions, context: Context) -> Response:
    call, completions = context.completion(responder, asked), context.server.completions
    if asked.stream:
        batches = completions.stream(call, progress="progress" in preferences(context.request))
        answer = await context.stream(batches, lambda given: _events(context, given))
    else:
        completion = await context.cancel_on_disconnect(completions.complete(call))
        context.spend(completion.usage.total_tokens)
        answer = Response(completion.model_dump_json(), media_type="application/json")
    warn_of(call.notes, answer)
    return answer


async def _events(context: Context, batches: AsyncGenerator[Batch]) -> AsyncGenerator[str]:
    try:
        async for batch in batches:
            context.spend_on(batch)
            # The events of a batch travel together.
            yield "".join(
                f"{_NAMES.get(type(event), '')}data: {event.model_dump_json()}\n\n"
                for event in batch
            )
    except (ApiError, RecordError) as error:
        # The status is sent already.
        failed = api_error(error)
        body = {**failed.body(context.request.state.request_id), "raw_status_code": failed.status}
        yield f"event: error\ndata: {json.dumps(body)}\n\n"
        return
    yield "data: [DONE]\n\n"
