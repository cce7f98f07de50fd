"""The batch jobs of a service."""

from collections.abc import AsyncIterator

from carrel.client.http.area import Area, every
from carrel.client.http.keywords import fields_of
from carrel.wire.batches import BatchCreate, BatchJob, BatchList, BatchQuery, BatchView
from carrel.wire.id_lists import DeletedItem

_PATH = "/v1/batch/jobs"


class Batches(Area):
    """`/v1/batch/jobs`. The answers of a batch are files: `output_file` and `error_file`."""

    @fields_of(BatchCreate)
    async def create(self, request: BatchCreate) -> BatchJob:
        """Queue a batch."""
        return await self._call(BatchJob, "POST", _PATH, body=request.body())

    @fields_of(BatchQuery)
    async def list(self, query: BatchQuery) -> BatchList:
        """Return a page of the batches, by default newest first."""
        return await self._call(BatchList, "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[BatchJob]:
        """Return all batches, newest first, page by page."""
        return every(self.list, lambda job: job.id)

    async def get(self, job_id: str, *, inline: bool = False) -> BatchJob:
        """Return a batch's current state; `inline` includes the `outputs` of an ended one."""
        query = BatchView(inline=inline)
        return await self._call(BatchJob, "GET", f"{_PATH}/{{}}", job_id, query=query)

    async def cancel(self, job_id: str) -> BatchJob:
        """Ask a batch to end with its answers so far."""
        return await self._call(BatchJob, "POST", f"{_PATH}/{{}}/cancel", job_id)

    async def delete(self, job_id: str) -> DeletedItem:
        """Delete an ended batch; its files stay."""
        return await self._call(DeletedItem, "DELETE", f"{_PATH}/{{}}", job_id)
