"""Answers in the Responses shape, for clients that speak nothing else."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Response

from carrel.server.completions.call import Batch
from carrel.server.completions.responder import Responder
from carrel.server.errors import ApiError
from carrel.server.http.event_stream import EventStream
from carrel.server.http.openapi import with_stream
from carrel.server.records import responses
from carrel.server.records.errors import NotFound, RecordError
from carrel.server.responses import answered, follows
from carrel.server.responses.asked import as_chat, check, ignored_fields, input_items
from carrel.server.responses.background import current_state
from carrel.server.routes.dependencies import Context, InQuery, ignored_note, validate, warn_of
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.completions import Progress
from carrel.wire.generation.responses import (
    ModelResponse,
    ResponseEvent,
    ResponseItems,
    ResponseQuery,
    ResponseRequest,
)
from carrel.wire.id_lists import DeletedItem, IdQuery

router = APIRouter(prefix="/v1/responses")

Keep = Callable[[ModelResponse], Awaitable[None]]
"""Keeps an answer that has ended."""

_USUAL_TOKENS = 1024
"""Tokens that count for an answer without a limit, until its cost is known."""
_STREAMED = with_stream(ResponseEvent, besides=", named by its type")


@router.post("", response_model=ModelResponse, responses=_STREAMED)
async def respond(body: ResponseRequest, context: Context) -> Response:
    check(body)
    followed = await context.read(follows.read, body)
    chat = validate(ChatRequest, as_chat(body, followed.messages), "body")
    call = context.completion(Responder.of_chat(chat), chat)
    response = answered.Response(body, responses.new_response_id())
    batches = _audible(context.server.completions.stream(call, progress=True))

    async def keep(answer: ModelResponse) -> None:
        def write(connection: sa.Connection) -> None:
            follows.keep(connection, context.caller, body, followed, answer)
            if body.store and not body.background:
                sent = answer.model_dump(mode="json")
                responses.add(connection, context.caller, sent, input_items(body))

        await context.server.database.write(write)

    if body.background:
        answer = await _begin(context, body, response, batches, keep)
    elif body.stream:
        answer = await context.stream(
            batches, lambda given: _events(context, response, given, keep)
        )
    else:
        answer = _as_json(await context.cancel_on_disconnect(_collect(context, response, batches)))
        await keep(response.as_ended())
    warn_of([*ignored_note(ignored_fields(body)), *call.notes], answer)
    return answer


@router.get("/{response_id}", response_model=ModelResponse, responses=_STREAMED)
async def retrieve(response_id: str, context: Context, query: InQuery[ResponseQuery]) -> Response:
    """Return a stored answer, a background answer in its present state, or its events."""
    if query.stream:
        after = -1 if query.starting_after is None else query.starting_after
        events = context.server.responses.events(context.caller, response_id, after)
        return await context.stream(events, _texts)
    return _as_sent(current_state(await context.read(responses.get, response_id)))


@router.delete("/{response_id}")
async def delete(response_id: str, context: Context) -> DeletedItem:
    await context.server.responses.delete(context.caller, response_id)
    return DeletedItem(id=response_id, object="response")


@router.post("/{response_id}/cancel", response_model=ModelResponse)
async def cancel(response_id: str, context: Context) -> Response:
    """End an answer in the background."""
    return _as_sent(await context.server.responses.cancel(context.caller, response_id))


@router.get("/{response_id}/input_items")
async def list_input_items(
    response_id: str, context: Context, query: InQuery[IdQuery]
) -> ResponseItems:
    """Return the input items of an answer, without the items of earlier answers."""
    kept = await context.read(responses.get, response_id)
    items = kept.input[::-1] if query.newest_first else kept.input
    ids = [item["id"] for item in items]
    if query.after is not None and query.after not in ids:
        raise NotFound.of("item", query.after)
    first = 0 if query.after is None else ids.index(query.after) + 1
    last = first + query.limit
    return ResponseItems.of(items[first:last], len(items) > last)


async def _audible(batches: AsyncGenerator[Batch]) -> AsyncGenerator[Batch]:
    """Yield batches without the steps that have no events in this shape."""
    async with aclosing(batches):
        async for batch in batches:
            if told := [one for one in batch if not isinstance(one, Progress) or one.tool]:
                yield told


async def _begin(
    context: Context,
    body: ResponseRequest,
    response: answered.Response,
    batches: AsyncGenerator[Batch],
    keep: Keep,
) -> Response:
    """Begin an answer in the background; return it as queued, or as the events to come."""
    background, caller = context.server.responses, context.caller
    background.check_room()
    begun = response.as_queued()
    sent = begun.model_dump(mode="json")
    await context.write(responses.add, sent, input_items(body), streamed=body.stream)
    # Its cost is not known yet: what it may write at most counts.
    context.spend(body.max_output_tokens or _USUAL_TOKENS)

    async def note(events: Iterable[ResponseEvent]) -> None:
        told = [*events]
        if body.stream:
            await background.note(caller, begun.id, told)

    async def work() -> dict[str, Any]:
        async with aclosing(batches):
            await note(response.begin())
            async for batch in batches:
                await note(response.take(batch))
        last = [*response.end()]
        await keep(response.as_ended())
        await note(last)
        return response.as_ended().model_dump(mode="json")

    background.begin(caller, begun.id, work())
    if not body.stream:
        return _as_json(begun)
    events = background.events(caller, begun.id, -1)
    return EventStream(_texts(events), events)


async def _collect(
    context: Context, response: answered.Response, batches: AsyncGenerator[Batch]
) -> ModelResponse:
    """Return the whole answer.

    Raises:
        ApiError: the model failed.
    """
    async with aclosing(batches):
        async for batch in batches:
            context.spend_on(batch)
            for _ in response.take(batch):
                pass
    for _ in response.end():
        pass
    answer = response.as_ended()
    if answer.error is not None:
        raise ApiError(503, answer.error.message)
    return answer


async def _events(
    context: Context, response: answered.Response, batches: AsyncGenerator[Batch], keep: Keep
) -> AsyncGenerator[str]:
    """Yield the events of an answer; it is kept before the last."""
    yield _text(response.begin())
    try:
        async for batch in batches:
            context.spend_on(batch)
            yield _text(response.take(batch))
        last = _text(response.end())
        await keep(response.as_ended())
    except (ApiError, RecordError) as error:
        last = _text(response.fail(error.message))
        with suppress(RecordError):
            await keep(response.as_ended())
    yield last


def _text(events: Iterable[ResponseEvent]) -> str:
    return "".join(f"event: {it.type}\ndata: {it.model_dump_json()}\n\n" for it in events)


async def _texts(events: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[str]:
    async for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _as_sent(answer: dict[str, Any]) -> Response:
    return Response(json.dumps(answer), media_type="application/json")


def _as_json(answer: ModelResponse) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")
