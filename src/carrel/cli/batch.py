"""`carrel batch …`"""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from carrel.cli import output
from carrel.cli.errors import CommandError
from carrel.cli.find import find_agent
from carrel.cli.options import JSONOption, argument, commands, flag, option
from carrel.cli.session import check_readable, with_client

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.batches import BatchJob

app = commands("Send many requests at once and fetch the answers later.")

BatchArgument = Annotated[str, argument("BATCH", "A batch's id.")]
Operation = Literal["ocr", "chat", "agents", "embeddings"]

_PATHS: dict[Operation, str] = {
    "ocr": "/v1/ocr",
    "chat": "/v1/chat/completions",
    "agents": "/v1/agents/completions",
    "embeddings": "/v1/embeddings",
}
_POLL_SECONDS = 1.0


@app.command("create")
@with_client(changes=True)
async def create(
    client: "Client",
    operation: Annotated[Operation, argument("OPERATION", "ocr, chat, agents or embeddings.")],
    path: Annotated[
        Path, argument("PATH", 'A .jsonl file with {"custom_id": …, "body": …} on each line.')
    ],
    model: Annotated[str | None, option("MODEL", "The model for requests that name none.")] = None,
    agent: Annotated[str | None, option("AGENT", "An agent that answers the chats.")] = None,
    json: JSONOption = False,
) -> None:
    """Create a batch from a file of requests. Prints its id."""
    from carrel.wire.batches import BatchCreate

    check_readable([path])
    agent_id = (await find_agent(client, agent)).id if agent else None
    with output.progress(f"Uploading {path.name}") as report:
        file = await client.files.upload(path, purpose="batch", on_progress=report)
    job = await client.batches.create(
        BatchCreate(
            endpoint=_PATHS[operation], input_files=[file.id], model=model, agent_id=agent_id
        )
    )
    if json:
        output.as_json(job)
    else:
        output.data(job.id)
    output.note(f"Created a batch. Fetch its answers with: carrel batch fetch {job.id}")


@app.command("list")
@with_client()
async def list_batches(client: "Client", json: JSONOption = False) -> None:
    """List batches, newest first."""
    jobs = [job async for job in client.batches.every()]
    output.show_list(
        jobs,
        json,
        ID=lambda job: job.id,
        OPERATION=lambda job: job.endpoint,
        STATUS=lambda job: job.status,
        DONE=lambda job: f"{job.completed_requests}/{job.total_requests}",
        FAILED=lambda job: job.failed_requests,
        CREATED=lambda job: output.local_time(job.created_at),
    )


@app.command("show")
@with_client()
async def show(client: "Client", batch: BatchArgument, json: JSONOption = False) -> None:
    """Show a batch's details."""
    job = await client.batches.get(batch)
    output.show_record(
        job,
        [
            ("id", job.id),
            ("operation", job.endpoint),
            ("status", job.status),
            ("done", f"{job.completed_requests} of {job.total_requests}"),
            ("failed", job.failed_requests or None),
            ("model", job.model),
            ("agent", job.agent_id),
            ("output file", job.output_file),
            ("error file", job.error_file),
            ("created", output.local_time(job.created_at)),
            ("completed", job.completed_at and output.local_time(job.completed_at)),
            *(("error", f"{error.message} ({error.count})") for error in job.errors),
        ],
        json,
    )


@app.command("cancel")
@with_client(changes=True)
async def cancel(client: "Client", batch: BatchArgument, json: JSONOption = False) -> None:
    """Cancel a batch. It keeps the answers it has."""
    job = await client.batches.cancel(batch)
    if json:
        output.as_json(job)
    output.note(f"The batch is {job.status}.")


@app.command("fetch")
@with_client()
async def fetch(
    client: "Client",
    batch: BatchArgument,
    to: Annotated[Path | None, argument("TO", "A path. Default: standard output.")] = None,
    errors: Annotated[bool, flag("--errors", "Fetch the requests that failed instead.")] = False,
) -> None:
    """Wait until a batch has ended, and fetch its answers."""
    job = await _wait_for_end(client, batch)
    file = job.error_file if errors else job.output_file
    if file is None:
        problem = f": {job.errors[0].message}" if job.errors and not errors else "."
        kind = "failed requests" if errors else "answers"
        raise CommandError(f"The batch is {job.status} and has no {kind}{problem}")
    if to is None:
        await _print_file(client, file)
    else:
        with output.progress(f"Downloading {to.name}") as report:
            output.data(str(await client.files.download(file, to, report)))
    failed = f", {job.failed_requests} failed" if job.failed_requests else ""
    output.note(f"{job.status}: {job.succeeded_requests} of {job.total_requests} answered{failed}.")


async def _wait_for_end(client: "Client", id: str) -> "BatchJob":
    """Return a batch after its end."""
    with output.show_changing() as tell:
        while True:
            job = await client.batches.get(id)
            if not job.running:
                return job
            tell(f"{job.status}  {job.completed_requests} of {job.total_requests}")
            await asyncio.sleep(_POLL_SECONDS)


async def _print_file(client: "Client", file_id: str) -> None:
    async with client.files.content(file_id) as content:
        async for chunk in content:
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
