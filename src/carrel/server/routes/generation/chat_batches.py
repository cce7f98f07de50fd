"""Batches as clients of the chat dialect make them, over the same batch jobs."""

from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Response

from carrel.server.records import batches
from carrel.server.records.accounts.caller import Caller
from carrel.server.routes.dependencies import (
    CurrentCaller,
    CurrentServer,
    ignored_note,
    query_of,
    warn_of,
)
from carrel.wire.batches import BatchCreate
from carrel.wire.chat_batches import (
    WINDOW_HOURS,
    ChatBatch,
    ChatBatchCreate,
    ChatBatchList,
    ChatBatchQuery,
)

router = APIRouter(prefix="/v1/batches")


@router.get("")
async def list_chat_batches(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[ChatBatchQuery, Depends(query_of(ChatBatchQuery))],
) -> ChatBatchList:
    def read(connection: sa.Connection) -> ChatBatchList:
        return _page(connection, caller, query)

    return await server.database.read(read)


@router.post("")
async def create_chat_batch(
    body: ChatBatchCreate, response: Response, server: CurrentServer, caller: CurrentCaller
) -> ChatBatch:
    """Work off the lines of a stored file in the background."""
    job = await server.batches.create(
        caller,
        BatchCreate(
            endpoint=body.endpoint,
            input_files=[body.input_file_id],
            metadata=body.metadata,
            timeout_hours=WINDOW_HOURS,
        ),
    )
    warn_of(ignored_note(sorted(body.model_extra or ())), response)
    return ChatBatch.of(job)


@router.get("/{batch_id}")
async def get_chat_batch(batch_id: str, server: CurrentServer, caller: CurrentCaller) -> ChatBatch:
    job = await server.database.read(batches.get, caller, batch_id)
    return ChatBatch.of(job)


@router.post("/{batch_id}/cancel")
async def cancel_chat_batch(
    batch_id: str, server: CurrentServer, caller: CurrentCaller
) -> ChatBatch:
    return ChatBatch.of(await server.batches.cancel(caller, batch_id))


def _page(connection: sa.Connection, caller: Caller, query: ChatBatchQuery) -> ChatBatchList:
    jobs, more = batches.after(connection, caller, query.after, query.limit)
    listed = [ChatBatch.of(job) for job in jobs]
    ids: list[str | None] = [one.id for one in listed] or [None]
    return ChatBatchList(data=listed, first_id=ids[0], last_id=ids[-1], has_more=more)
