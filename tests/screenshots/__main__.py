"""`uv run python tests/screenshots [FACE …]`: makes the pictures of `screenshots/` from real runs.

A face is a module of this folder with `shoot(papers: Path, out: Path) -> None`: it starts a real
server on an empty folder, works with the documents in `papers`, and writes its pictures to `out`.
`demo` draws the same recording alike each time; what the model needed for its answer shows in it.
"""

import importlib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest

from screenshots.papers import write
from support.home import own_home

FACES = ("terminal", "notebook", "demo")
OUT = Path(__file__).parents[2] / "screenshots"


def main(wanted: list[str]) -> int:
    """The exit code: 2 for an unknown face."""
    unknown = set(wanted) - set(FACES)
    if unknown:
        print(f"No such face: {', '.join(sorted(unknown))}. Available: {', '.join(FACES)}.")
        return 2
    OUT.mkdir(exist_ok=True)
    # An empty home: nothing of this machine's user gets into a picture.
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as monkeypatch:
        own_home(monkeypatch, Path(home))
        papers = write(Path(home) / "contracts")
        for face in wanted or FACES:
            importlib.import_module(f"screenshots.{face}").shoot(papers, OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
