"""Answers in the Responses shape, for clients that speak nothing else."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.assembly import Server
from carrel.server.completions.call import Batch, CompletionCall
from carrel.server.completions.responder import Responder
from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import streamed
from carrel.server.records import responses
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound
from carrel.server.records.responses import KeptResponse
from carrel.server.responses import answered
from carrel.server.responses.asked import after, as_chat, ignored, input_items
from carrel.server.responses.background import shown
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    InQuery,
    completion_call,
    ignored_note,
    validated,
    warn_of,
)
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.completions import CompletionChunk
from carrel.wire.generation.responses import (
    DeletedResponse,
    ModelResponse,
    ResponseEvent,
    ResponseItems,
    ResponseRequest,
)
from carrel.wire.id_lists import IdQuery

router = APIRouter(prefix="/v1/responses")

_USUAL_TOKENS = 1024


@router.post(
    "",
    response_model=ModelResponse,
    responses=streamed(ResponseEvent, besides=", named by its type"),
)
async def respond(
    body: ResponseRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    before = await server.database.read(responses.items_before, caller, body.previous_response_id)
    chat = validated(ChatRequest, as_chat(after(body, before)), "body")
    call = completion_call(Responder.of_chat(chat), chat, server, caller)
    response = answered.Response(body, responses.new_response_id())

    async def keep(answer: ModelResponse) -> None:
        if body.store:
            kept = partial(
                responses.add,
                caller=caller,
                response=answer.model_dump(mode="json"),
                input=input_items(body),
            )
            await server.database.write(kept)

    try:
        if body.background:
            server.responses.check_room()
            begun = response.queued()
            await keep(begun)
            # Its cost is not known yet: what it may write at most counts.
            request.state.tokens = body.max_output_tokens or _USUAL_TOKENS
            server.responses.begin(caller, begun.id, _whole(server, call, response))
            answer: Response = _as_json(begun)
        elif body.stream:
            batches = server.completions.stream(call)
            # Wait for the first chunk: an error before it still gets a status of its own.
            first = await unless_disconnected(request, anext(batches))
            events = _events(request, response, first, batches, keep)
            answer = EventStream(events, batches)
        else:
            completion = await unless_disconnected(request, server.completions.complete(call))
            request.state.tokens = completion.usage.total_tokens
            whole = response.whole(completion)
            await keep(whole)
            answer = _as_json(whole)
    except ClientDisconnect:
        return Response(status_code=LEFT)
    warn_of([*ignored_note(ignored(body)), *call.notes], answer)
    return answer


@router.get("/{response_id}", response_model=ModelResponse)
async def retrieve(response_id: str, server: CurrentServer, caller: CurrentCaller) -> Response:
    """Return a kept answer; one in the background as far as it is."""
    return _as_sent(shown(await _kept(response_id, server, caller)))


@router.delete("/{response_id}")
async def delete(response_id: str, server: CurrentServer, caller: CurrentCaller) -> DeletedResponse:
    await server.database.write(responses.delete, caller, response_id)
    return DeletedResponse(id=response_id)


@router.post("/{response_id}/cancel", response_model=ModelResponse)
async def cancel(response_id: str, server: CurrentServer, caller: CurrentCaller) -> Response:
    """End an answer in the background."""
    return _as_sent(await server.responses.cancel(caller, response_id))


@router.get("/{response_id}/input_items")
async def list_input_items(
    response_id: str,
    server: CurrentServer,
    caller: CurrentCaller,
    query: InQuery[IdQuery],
) -> ResponseItems:
    """Return the items that an answer was given, without those of the answers before it."""
    kept = await _kept(response_id, server, caller)
    items = kept.input[::-1] if query.newest_first else kept.input
    ids = [item["id"] for item in items]
    if query.after is not None and query.after not in ids:
        raise NotFound.of("item", query.after)
    first = 0 if query.after is None else ids.index(query.after) + 1
    last = first + query.limit
    return ResponseItems.of(items[first:last], len(items) > last)


async def _kept(id: str, server: Server, caller: Caller) -> KeptResponse:
    return await server.database.read(responses.get, caller, id)


async def _whole(
    server: Server, call: CompletionCall, response: answered.Response
) -> dict[str, Any]:
    return response.whole(await server.completions.complete(call)).model_dump(mode="json")


def _as_sent(answer: dict[str, Any]) -> Response:
    return Response(json.dumps(answer), media_type="application/json")


def _as_json(answer: ModelResponse) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


async def _events(
    request: Request,
    response: answered.Response,
    first: Batch,
    batches: AsyncGenerator[Batch],
    keep: Callable[[ModelResponse], Awaitable[None]],
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
    last = _text(response.end())
    await keep(response.ended())
    yield last


def _text(events: Iterable[ResponseEvent]) -> str:
    return "".join(f"event: {it.type}\ndata: {it.model_dump_json()}\n\n" for it in events)
