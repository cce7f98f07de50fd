"""Activity: the batch jobs of the service among the rest, and where an upload came from."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.store.batches.formatting import job_name
from carrel.tui.widgets.inputs.fields import Field
from carrel.wire.batches import BatchCreate, BatchLine
from support.process import RunningServer
from support.workbench import Workbench, profile_of, workbench


@pytest.fixture
async def bench(server: RunningServer) -> AsyncIterator[Workbench]:
    async with workbench(profile_of(server)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        yield bench


async def test_a_batch_job_shows_and_its_answers_are_saved(
    bench: Workbench, tmp_path: Path
) -> None:
    client = await bench.store.session.client()
    body = {"model": "mistral-embed", "input": "rent"}
    job = await client.batches.create(
        BatchCreate(endpoint="/v1/embeddings", requests=[BatchLine(custom_id="a", body=body)])
    )
    await bench.press("6")
    await bench.shows(job_name(job), "Batch", "● Done", "1 of 1", "s saves its answers")
    await bench.press("s")
    await bench.shows("Save the answers in this folder")
    bench.app.screen.query_one(Field).value = str(tmp_path)
    await bench.leave("enter")
    await bench.until(lambda: (tmp_path / f"{job.id}-answers.jsonl").exists())
    await bench.press("d")
    await bench.until(lambda: job_name(job) not in bench.text())


async def test_the_path_and_the_name_of_an_upload_are_copied(
    bench: Workbench, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("The rent is 1,200.")
    await bench.store.files.upload(note)
    await bench.press("6")
    await bench.shows("note.md", "● Done", "Path")
    await bench.copies("p", str(note))
    await bench.copies("n", "note.md")
