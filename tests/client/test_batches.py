"""Batch jobs through the client, against the real server."""

import asyncio

import pytest

from carrel.client import Client
from carrel.client.http.errors import NotFound
from carrel.wire.batches import BatchCreate, BatchJob, BatchLine
from support.process import RunningServer


async def _ended(client: Client, id: str) -> BatchJob:
    async with asyncio.timeout(60):
        while True:
            job = await client.batches.get(id, inline=True)
            if not job.running:
                return job
            await asyncio.sleep(0.05)


async def test_a_batch_from_its_creation_to_its_end(server: RunningServer) -> None:
    async with Client(server.url, server.api_key) as client:
        line = BatchLine(custom_id="owl", body={"input": ["an owl"]})
        request = BatchCreate(endpoint="/v1/embeddings", requests=[line], model="mistral-embed")
        made = await client.batches.create(request)
        done = await _ended(client, made.id)
        assert (done.status, done.succeeded_requests) == ("SUCCESS", 1)
        assert done.outputs is not None
        assert done.outputs[0]["custom_id"] == "owl"
        assert [job.id async for job in client.batches.every()] == [made.id]
        assert (await client.batches.cancel(made.id)).status == "SUCCESS"
        assert (await client.batches.delete(made.id)).deleted
        with pytest.raises(NotFound):
            await client.batches.get(made.id)
