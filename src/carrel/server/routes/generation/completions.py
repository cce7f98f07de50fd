"""Completions, by agents and by models asked directly."""

import json
from collections.abc import AsyncGenerator

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.assembly import Server
from carrel.server.completions.call import Batch
from carrel.server.completions.dialect import ChatBody
from carrel.server.completions.responder import Responder
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.errors import api_error
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import streamed
from carrel.server.http.preferences import preferences
from carrel.server.records import agents
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import RecordError
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    completion_call,
    ignored_note,
    warn_of,
)
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

_STREAMED = streamed(CompletionChunk)


@router.post("/agents/completions", response_model=Completion, responses=_STREAMED)
async def complete(
    body: CompletionRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    agent = await server.database.read(agents.get, caller, body.agent_id)
    return await _answer(Responder.of_agent(agent), body, request, server, caller)


@router.post("/chat/completions", response_model=Completion, responses=_STREAMED)
async def chat(
    body: ChatBody, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    answer = await _answer(Responder.of_chat(body), body, request, server, caller)
    warn_of(ignored_note(body.ignored), answer)
    return answer


async def _answer(
    responder: Responder,
    asked: CompletionOptions,
    request: Request,
    server: Server,
    caller: Caller,
) -> Response:
    call = completion_call(responder, asked, server, caller)
    try:
        if asked.stream:
            progress = "progress" in preferences(request)
            batches = server.completions.stream(call, progress=progress)
            # Wait for the first chunk: an error before it still gets a status of its own.
            first = await unless_disconnected(request, anext(batches))
            answer: Response = EventStream(_events(request, first, batches), batches)
            warn_of(call.notes, answer)
            return answer
        completion = await unless_disconnected(request, server.completions.complete(call))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    request.state.tokens = completion.usage.total_tokens
    answer = Response(completion.model_dump_json(), media_type="application/json")
    warn_of(call.notes, answer)
    return answer


async def _events(
    request: Request, first: Batch, batches: AsyncGenerator[Batch]
) -> AsyncGenerator[str]:
    yield _text(first)
    sent = 0
    try:
        async for batch in batches:
            chunks = [event for event in batch if isinstance(event, CompletionChunk)]
            sent += len(chunks)
            # On early disconnect, count about one token per chunk.
            usage = chunks[-1].usage if chunks else None
            request.state.tokens = usage.total_tokens if usage else sent
            yield _text(batch)
    except (ApiError, RecordError) as error:
        # The status is sent already.
        failed = api_error(error)
        body = {**failed.body(request.state.request_id), "raw_status_code": failed.status}
        yield f"event: error\ndata: {json.dumps(body)}\n\n"
        return
    yield "data: [DONE]\n\n"


def _text(batch: Batch) -> str:
    """Return the events of a batch, which travel together."""
    return "".join(
        f"{_NAMES.get(type(event), '')}data: {event.model_dump_json()}\n\n" for event in batch
    )
