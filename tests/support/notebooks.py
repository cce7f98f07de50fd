"""The notebooks of `notebooks/`, executed in a kernel of their own.

Its libraries take seconds to import, which every worker would spend: they are imported on use.
"""

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"


def read(path: Path) -> Any:
    """A notebook as it is saved."""
    import nbformat

    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def check(notebook: Any) -> None:
    """Fails if a notebook is not of the format."""
    import nbformat

    nbformat.validate(notebook)


async def executed(path: Path, folder: Path) -> Any:
    """The notebook with what its cells show when they are run, in order, in `folder`.

    Its kernel has this process's environment.
    """
    from nbclient import NotebookClient

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
