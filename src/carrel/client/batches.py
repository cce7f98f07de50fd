"""The batch jobs of a service."""

import builtins
from collections.abc import AsyncIterator

from carrel.client.http.paging import PAGE, every
from carrel.client.http.transport import Transport, path_of
from carrel.wire.batches import (
    BatchCreate,
    BatchJob,
    BatchList,
    BatchQuery,
    BatchView,
    DeletedBatch,
)

_PATH = "/v1/batch/jobs"


class Batches:
    """`/v1/batch/jobs`. The answers of a batch are files: `output_file` and `error_file`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, request: BatchCreate) -> BatchJob:
        """Queue a batch."""
        return await self._transport.call(BatchJob, "POST", _PATH, body=request.body())

    async def list(self, query: BatchQuery | None = None) -> BatchList:
        """Return a page of the batches, newest first unless asked otherwise."""
        return await self._transport.call(BatchList, "GET", _PATH, query=query or BatchQuery())

    def every(self) -> AsyncIterator[BatchJob]:
        """Return all batches, newest first, page after page."""

        async def page(number: int) -> builtins.list[BatchJob]:
            return (await self.list(BatchQuery(page=number, page_size=PAGE))).data

        return every(page, lambda job: job.id)

    async def get(self, job_id: str, *, inline: bool = False) -> BatchJob:
        """Return a batch as it is now; with `inline`, an ended one comes with its `outputs`."""
        path = path_of(f"{_PATH}/{{}}", job_id)
        return await self._transport.call(BatchJob, "GET", path, query=BatchView(inline=inline))

    async def cancel(self, job_id: str) -> BatchJob:
        """Ask a batch to end with the answers that it has."""
        return await self._transport.call(BatchJob, "POST", path_of(f"{_PATH}/{{}}/cancel", job_id))

    async def delete(self, job_id: str) -> DeletedBatch:
        """Remove a batch that has ended; its files stay."""
        return await self._transport.call(DeletedBatch, "DELETE", path_of(f"{_PATH}/{{}}", job_id))
