"""Batch jobs: create, list, get, cancel, delete."""

from typing import Annotated

from fastapi import APIRouter, Depends

from carrel.server.records import batches
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer, query_of
from carrel.wire.batches import (
    BatchCreate,
    BatchJob,
    BatchList,
    BatchQuery,
    BatchView,
    DeletedBatch,
)

router = APIRouter(prefix="/v1/batch/jobs")


@router.get("")
async def list_batches(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[BatchQuery, Depends(query_of(BatchQuery))],
) -> BatchList:
    return await server.database.read(batches.page, caller, query)


@router.post("")
async def create_batch(body: BatchCreate, server: CurrentServer, caller: CurrentCaller) -> BatchJob:
    return await server.batches.create(caller, body)


@router.get("/{job_id}")
async def get_batch(
    job_id: str,
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[BatchView, Depends(query_of(BatchView))],
) -> BatchJob:
    job = await server.database.read(batches.get, caller, job_id)
    if not query.inline:
        return job
    return job.model_copy(update={"outputs": await server.batches.outputs(caller, job)})


@router.post("/{job_id}/cancel")
async def cancel_batch(job_id: str, server: CurrentServer, caller: CurrentCaller) -> BatchJob:
    return await server.batches.cancel(caller, job_id)


@router.delete("/{job_id}")
async def delete_batch(job_id: str, server: CurrentServer, caller: CurrentCaller) -> DeletedBatch:
    await server.database.write(batches.delete, caller, job_id)
    return DeletedBatch(id=job_id)
