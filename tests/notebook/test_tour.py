"""The tour, executed cell by cell against the real server."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from support.process import RunningServer

TOUR = Path(__file__).parents[2] / "notebooks" / "tour.ipynb"
WIDGET = "application/vnd.jupyter.widget-view+json"


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def data(notebook: Any, kind: str) -> str:
    """Everything the cells showed as one kind, in order."""
    return "\n".join(
        str(output.data[kind]) for output in outputs(notebook) if kind in output.get("data", {})
    )


@pytest.fixture
async def toured(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    notebook = nbformat.read(TOUR, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    await client.async_execute()
    return notebook


async def test_the_tour_reads_a_scan_and_answers_from_a_library(
    toured: Any, server: RunningServer
) -> None:
    html, plain = data(toured, "text/html"), data(toured, "text/plain")
    assert "<Reading of lease.pdf: 1 page>" in plain
    assert "notice period" in html
    assert "process_status='done'" in plain
    assert "Agent(name='support', version=1" in plain
    printed = "".join(output.text for output in outputs(toured) if output.output_type == "stream")
    assert "1 lease.pdf ·" in printed
    assert len([output for output in outputs(toured) if WIDGET in output.get("data", {})]) == 5
    assert server.api_key not in str(toured)


def test_the_saved_tour_has_its_outputs_and_nothing_private() -> None:
    text = TOUR.read_text("utf-8")
    saved = nbformat.read(TOUR, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(saved)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert "widgets" not in saved.metadata
    assert len(text) < 40_000
    for private in ("/root", "/home", "/tmp", "/work", "sk-", "/signed/"):
        assert private not in text
