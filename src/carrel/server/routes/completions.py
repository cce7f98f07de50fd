"""Completions, by agents and by models asked directly."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from carrel.server.assembly import Server
from carrel.server.completions.call import CompletionCall
from carrel.server.completions.dialect import ChatBody
from carrel.server.completions.responder import Responder
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.openapi import streamed
from carrel.server.http.preferences import preferences
from carrel.server.records import agents
from carrel.server.records.caller import Caller
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.server.routes.ocr import picture, recognise
from carrel.wire.completions import (
    Completion,
    CompletionChunk,
    CompletionOptions,
    CompletionRequest,
    Progress,
)
from carrel.wire.content import DocumentURLChunk, FileChunk, ImageURLChunk
from carrel.wire.ocr import OCRRequest

router = APIRouter(prefix="/v1")

Batch = list[CompletionChunk | Progress]
"""A batch of chunks."""

_NAMES: dict[type, str] = {Progress: "event: progress\n"}
"""The names of events other than chunks."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
"""What a header has no place for."""

_STREAMED = streamed(CompletionChunk)


@router.post("/agents/completions", response_model=Completion, responses=_STREAMED)
async def complete(
    body: CompletionRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    agent = await server.database.read(partial(agents.get, caller=caller, id=body.agent_id))
    return await _answer(Responder.of_agent(agent), body, request, server, caller)


@router.post("/chat/completions", response_model=Completion, responses=_STREAMED)
async def chat(
    body: ChatBody, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    answer = await _answer(Responder.of_chat(body), body, request, server, caller)
    warn_of(body.ignored, answer)
    return answer


def warn_of(ignored: Sequence[str], answer: Response) -> None:
    """Names the fields of a request that were left out."""
    if ignored:
        names = ", ".join(_UNSAFE.sub("?", name[:40]) for name in ignored[:20])
        answer.headers["warning"] = f'299 carrel "Ignored, as unknown: {names}"'


def completion_call(
    responder: Responder, asked: CompletionOptions, server: Server, caller: Caller
) -> CompletionCall:
    """A completion for a caller, whose documents it may read."""

    async def read_document(chunk: DocumentURLChunk | FileChunk | ImageURLChunk) -> str:
        named = OCRRequest(model=None, document=chunk)
        if isinstance(chunk, ImageURLChunk):
            return await picture(named, server, caller)
        seconds = server.settings.limits.ocr_seconds
        result = await recognise(named, server, caller, seconds)
        pages = result.pages[: asked.document_page_limit]
        return "\n\n".join(page.markdown for page in pages)

    return CompletionCall(responder, asked, caller, read_document)


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
            return EventStream(_events(request, first, batches), batches)
        completion = await unless_disconnected(request, server.completions.complete(call))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    request.state.tokens = completion.usage.total_tokens
    return Response(completion.model_dump_json(), media_type="application/json")


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
    except ApiError as error:
        # The status is sent already.
        body = {**error.body(request.state.request_id), "raw_status_code": error.status}
        yield f"event: error\ndata: {json.dumps(body)}\n\n"
        return
    yield "data: [DONE]\n\n"


def _text(batch: Batch) -> str:
    """The events of a batch, which travel together."""
    return "".join(
        f"{_NAMES.get(type(event), '')}data: {event.model_dump_json()}\n\n" for event in batch
    )


class EventStream(StreamingResponse):
    """A stream of events whose source is closed as soon as the caller disconnects."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str], source: AsyncGenerator[Any]) -> None:
        super().__init__(events, headers={"cache-control": "no-store"})
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._source):
            await super().__call__(scope, receive, send)
