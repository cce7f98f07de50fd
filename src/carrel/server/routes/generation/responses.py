"""Answers in the Responses shape, for clients that speak nothing else."""

from collections.abc import AsyncGenerator, Iterable

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.completions.call import Batch
from carrel.server.completions.responder import Responder
from carrel.server.errors import ApiError
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import streamed
from carrel.server.responses import answered
from carrel.server.responses.asked import as_chat, ignored
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    completion_call,
    ignored_note,
    validated,
    warn_of,
)
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.completions import CompletionChunk
from carrel.wire.generation.responses import ModelResponse, ResponseEvent, ResponseRequest

router = APIRouter(prefix="/v1/responses")


@router.post(
    "",
    response_model=ModelResponse,
    responses=streamed(ResponseEvent, besides=", named by its type"),
)
async def respond(
    body: ResponseRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    chat = validated(ChatRequest, as_chat(body), "body")
    call = completion_call(Responder.of_chat(chat), chat, server, caller)
    response = answered.Response(body)
    try:
        if body.stream:
            batches = server.completions.stream(call)
            # Wait for the first chunk: an error before it still gets a status of its own.
            first = await unless_disconnected(request, anext(batches))
            answer: Response = EventStream(_events(request, response, first, batches), batches)
        else:
            completion = await unless_disconnected(request, server.completions.complete(call))
            request.state.tokens = completion.usage.total_tokens
            whole = response.whole(completion).model_dump_json()
            answer = Response(whole, media_type="application/json")
    except ClientDisconnect:
        return Response(status_code=LEFT)
    warn_of([*ignored_note(ignored(body)), *call.notes], answer)
    return answer


@router.get("/{response_id:path}", include_in_schema=False)
async def retrieve(response_id: str) -> None:
    raise ApiError(501, "This server keeps no answers. Keep them where you asked for them.")


async def _events(
    request: Request,
    response: answered.Response,
    first: Batch,
    batches: AsyncGenerator[Batch],
) -> AsyncGenerator[str]:
    yield _text(response.begin())
    chunks = 0
    batch: Batch | None = first
    while batch is not None:
        for chunk in batch:
            if isinstance(chunk, CompletionChunk):
                chunks += 1
                # On early disconnect, count about one token per chunk.
                request.state.tokens = chunk.usage.total_tokens if chunk.usage else chunks
                yield _text(response.take(chunk))
        batch = await anext(batches, None)
    yield _text(response.end())


def _text(events: Iterable[ResponseEvent]) -> str:
    return "".join(f"event: {it.type}\ndata: {it.model_dump_json()}\n\n" for it in events)
