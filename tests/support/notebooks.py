"""The notebooks of `notebooks/`, executed in a kernel of their own."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"


def read(path: Path) -> Any:
    """A notebook as it is saved."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


async def executed(path: Path, folder: Path) -> Any:
    """The notebook with what its cells show when they are run, in order, in `folder`.

    Its kernel has this process's environment.
    """
    notebook = read(path)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
    )
    await client.async_execute()
    return notebook


def outputs(notebook: Any) -> list[Any]:
    """What its cells show, in order."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def shown(notebook: Any) -> str:
    """All texts that its cells show, as HTML where there is that."""
    return "\n".join(
        output.text
        if output.output_type == "stream"
        else str(output.data.get("text/html", output.data.get("text/plain", "")))
        for output in outputs(notebook)
    )
