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
from carrel.server.openapi import Described
from carrel.server.parts import Server
from carrel.server.records import agents
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.server.routes.ocr import recognise
from carrel.wire.chat import ChatRequest
from carrel.wire.completions import (
    Completion,
    CompletionChunk,
    CompletionOptions,
    CompletionRequest,
)
from carrel.wire.content import DocumentURLChunk, FileChunk
from carrel.wire.ocr import OCRRequest

router = APIRouter(prefix="/v1")

_STREAMED: Described = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}


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
    async def read_document(chunk: DocumentURLChunk | FileChunk) -> str:
        result = await recognise(OCRRequest(model=None, document=chunk), server, caller)
        return "\n\n".join(page.markdown for page in result.pages)

    arguments = (responder, asked, caller, read_document)
    try:
        if asked.stream:
            chunks = server.completions.stream(*arguments)
            # With the first chunk it is known that the model answers, so that what was wrong
            # before it still is an error with a status of its own.
            first = await unless_disconnected(request, anext(chunks))
            return _EventStream(request, first, chunks)
        completion = await unless_disconnected(request, server.completions.complete(*arguments))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    request.state.tokens = completion.usage.total_tokens
    return Response(completion.model_dump_json(), media_type="application/json")


async def _events(
    request: Request, first: CompletionChunk, chunks: AsyncGenerator[CompletionChunk]
) -> AsyncGenerator[str]:
    yield _event(first)
    sent = 0
    async for chunk in chunks:
        sent += 1
        # Who leaves before the end has had about a token with every chunk.
        request.state.tokens = chunk.usage.total_tokens if chunk.usage else sent
        yield _event(chunk)
    yield "data: [DONE]\n\n"


def _event(chunk: CompletionChunk) -> str:
    return f"data: {chunk.model_dump_json()}\n\n"


class _EventStream(StreamingResponse):
    """A stream whose source is closed as soon as the caller leaves, not when it is collected."""

    media_type = "text/event-stream"

    def __init__(
        self, request: Request, first: CompletionChunk, chunks: AsyncGenerator[CompletionChunk]
    ) -> None:
        super().__init__(_events(request, first, chunks), headers={"cache-control": "no-store"})
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._chunks):
            await super().__call__(scope, receive, send)
