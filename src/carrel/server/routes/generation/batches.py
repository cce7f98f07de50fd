"""Batch jobs: create, list, get, cancel, delete."""

from fastapi import APIRouter

from carrel.server.records import batches
from carrel.server.routes.dependencies import Context, InQuery
from carrel.wire.batches import BatchCreate, BatchJob, BatchList, BatchQuery, BatchView
from carrel.wire.id_lists import DeletedItem

router = APIRouter(prefix="/v1/batch/jobs")


@router.get("")
async def list_batches(context: Context, query: InQuery[BatchQuery]) -> BatchList:
    return await context.read(batches.page, query)


@router.post("")
async def create_batch(body: BatchCreate, context: Context) -> BatchJob:
    return await context.server.batches.create(context.caller, body)


@router.get("/{job_id}")
async def get_batch(job_id: str, context: Context, query: InQuery[BatchView]) -> BatchJob:
    job = await context.read(batches.get, job_id)
    if not query.inline:
        return job
    return job.model_copy(
        update={"outputs": await context.server.batches.outputs(context.caller, job)}
    )


@router.post("/{job_id}/cancel")
async def cancel_batch(job_id: str, context: Context) -> BatchJob:
    return await context.server.batches.cancel(context.caller, job_id)


@router.delete("/{job_id}")
async def delete_batch(job_id: str, context: Context) -> DeletedItem:
    await context.write(batches.delete, job_id)
    return DeletedItem(id=job_id, object="batch")
