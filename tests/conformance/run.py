"""Runs a client's driver against a server."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.clients import Client
from conformance.environments import command
from support.documents import digital_pdf, picture
from support.process import RunningServer, serve
from support.spoken import spoken_model

Outcome = Mapping[str, str | None]
"""What went wrong with each operation; None when it passed."""


def prepare(folder: Path) -> Path:
    """Makes the documents that the drivers send."""
    folder.mkdir(parents=True, exist_ok=True)
    digital_pdf(folder / "report.pdf")
    picture(folder / "notice.png", "Every carrel has a lamp.")
    return folder


def run(client: Client, environment: Path, server: RunningServer, documents: Path) -> Outcome:
    """The outcome of every operation that the client has, in the order of the driver."""
    wanted = sorted(client.operations)
    variables = {
        **os.environ,
        "CARREL_URL": server.url,
        "CARREL_API_KEY": server.api_key,
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    with ExitStack() as stack:
        if any(operation.startswith("reasoning") for operation in wanted):
            thinking = stack.enter_context(_thinking_server())
            variables["THINKING_URL"] = thinking.url
            variables["THINKING_API_KEY"] = thinking.api_key
        result = subprocess.run(
            [*command(client, environment), *wanted],
            cwd=documents,
            env=variables,
            capture_output=True,
            text=True,
            timeout=600,
        )
    # Some clients print as well.
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"operation"')]
    outcome = {line["operation"]: line["error"] for line in map(json.loads, lines)}
    for operation in wanted:
        outcome.setdefault(operation, f"did not run: {result.stderr[-2000:]}")
    return outcome


@contextmanager
def _thinking_server() -> Iterator[RunningServer]:
    """A server before a model that thinks, as the built-in one does not."""
    with spoken_model() as model, tempfile.TemporaryDirectory() as folder:
        model.answer = lambda body: [{"reasoning_content": "Let me see."}, {"content": "Four."}]
        with serve(Path(folder), "--model-url", model.url) as server:
            yield server
