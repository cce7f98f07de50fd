"""`uv run python tests/notebook [NAME …]`: runs `notebooks/` and saves what their cells show.

Each runs as at a new user's: with an empty home and a server on an empty folder.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from carrel.config.profiles import folders
from support.home import own_home
from support.notebooks import FOLDER, WIDGET, executed, read
from support.process import serve


def main(wanted: list[str]) -> int:
    """The exit code: 2 for an unknown name."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    unknown = set(wanted) - set(known)
    if unknown:
        print(f"No such notebook: {', '.join(sorted(unknown))}. Available: {', '.join(known)}.")
        return 2
    for name in wanted or known:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as monkeypatch:
            own_home(monkeypatch, Path(home))
            folders().server.parent.mkdir(parents=True)
            with serve(folders().server):
                notebook = asyncio.run(executed(known[name], Path(home)))
        _save(notebook, known[name])
    return 0


def _save(notebook: Any, path: Path) -> None:
    for cell in notebook.cells:
        # A live panel is of no use without its kernel; its static page is the output after it.
        live = [output for output in cell.get("outputs", []) if WIDGET in output.get("data", {})]
        if live:
            cell.outputs = [output for output in cell.outputs if output not in live]
    notebook.metadata = read(path).metadata
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
