"""Completions, by agents and by models asked directly."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from carrel.server.access import Caller
from carrel.server.disconnect import LEFT, unless_disconnected
from carrel.server.models.responder import Responder
from carrel.server.openapi import streamed
from carrel.server.parts import Server
from carrel.server.records import agents
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.server.routes.ocr import picture, recognise
from carrel.wire.chat import ChatRequest
from carrel.wire.completions import (
    Completion,
    CompletionChunk,
    CompletionOptions,
    CompletionRequest,
)
from carrel.wire.content import DocumentURLChunk, FileChunk, ImageURLChunk
from carrel.wire.ocr import OCRRequest

router = APIRouter(prefix="/v1")

_Batch = list[CompletionChunk]
"""Chunks that came together."""

_STREAMED = streamed(CompletionChunk)


@router.post("/agents/completions", response_model=Completion, responses=_STREAMED)
async def complete(
    body: CompletionRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    agent = await server.database.read(partial(agents.get, caller=caller, id=body.agent_id))
    return await _answer(Responder.of_agent(agent), body, request, server, caller)


@router.post("/chat/completions", response_model=Completion, responses=_STREAMED)
async def chat(
    body: ChatRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    return await _answer(Responder.of_chat(body), body, request, server, caller)


async def _answer(
    responder: Responder,
    asked: CompletionOptions,
    request: Request,
    server: Server,
    caller: Caller,
) -> Response:
    async def read_document(chunk: DocumentURLChunk | FileChunk | ImageURLChunk) -> str:
        named = OCRRequest(model=None, document=chunk)
        if isinstance(chunk, ImageURLChunk):
            return await picture(named, server, caller)
        result = await recognise(named, server, caller)
        return "\n\n".join(page.markdown for page in result.pages)

    arguments = (responder, asked, caller, read_document)
    try:
        if asked.stream:
            batches = server.completions.stream(*arguments)
            # With the first chunk it is known that the model answers, so that what was wrong
            # before it still is an error with a status of its own.
            first = await unless_disconnected(request, anext(batches))
            return _EventStream(request, first, batches)
        completion = await unless_disconnected(request, server.completions.complete(*arguments))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    request.state.tokens = completion.usage.total_tokens
    return Response(completion.model_dump_json(), media_type="application/json")


async def _events(
    request: Request, first: _Batch, batches: AsyncGenerator[_Batch]
) -> AsyncGenerator[str]:
    yield _text(first)
    sent = 0
    async for batch in batches:
        sent += len(batch)
        # Who leaves before the end has had about a token with every chunk.
        usage = batch[-1].usage
        request.state.tokens = usage.total_tokens if usage else sent
        yield _text(batch)
    yield "data: [DONE]\n\n"


def _text(batch: _Batch) -> str:
    """The events of chunks, which travel together."""
    return "".join(f"data: {chunk.model_dump_json()}\n\n" for chunk in batch)


class _EventStream(StreamingResponse):
    """A stream whose source is closed as soon as the caller leaves, not when it is collected."""

    media_type = "text/event-stream"

    def __init__(self, request: Request, first: _Batch, batches: AsyncGenerator[_Batch]) -> None:
        super().__init__(_events(request, first, batches), headers={"cache-control": "no-store"})
        self._batches = batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._batches):
            await super().__call__(scope, receive, send)
