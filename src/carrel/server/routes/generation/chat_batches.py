"""Batches as clients of the chat dialect make them, over the same batch jobs."""

from fastapi import APIRouter, Response

from carrel.server.records import batches
from carrel.server.routes.dependencies import Context, InQuery, ignored_note, warn_of
from carrel.wire.batches import BatchCreate
from carrel.wire.chat_batches import WINDOW_HOURS, ChatBatch, ChatBatchCreate, ChatBatchList
from carrel.wire.id_lists import IdQuery

router = APIRouter(prefix="/v1/batches")


@router.get("")
async def list_chat_batches(context: Context, query: InQuery[IdQuery]) -> ChatBatchList:
    jobs, more = await context.read(batches.page_after, query)
    return ChatBatchList.of([ChatBatch.of(job) for job in jobs], more)


@router.post("")
async def create_chat_batch(
    body: ChatBatchCreate, response: Response, context: Context
) -> ChatBatch:
    """Work off the lines of a stored file in the background."""
    job = await context.server.batches.create(
        context.caller,
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
async def get_chat_batch(batch_id: str, context: Context) -> ChatBatch:
    return ChatBatch.of(await context.read(batches.get, batch_id))


@router.post("/{batch_id}/cancel")
async def cancel_chat_batch(batch_id: str, context: Context) -> ChatBatch:
    return ChatBatch.of(await context.server.batches.cancel(context.caller, batch_id))
