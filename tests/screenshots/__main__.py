"""`uv run python tests/screenshots [FACE …]`: makes the pictures of `screenshots/` from real runs.

A face is a module of this folder with `shoot(papers: Path, out: Path) -> None`: it starts a real
server on an empty folder, works with the documents in `papers`, and writes its pictures to `out`.
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from screenshots.papers import write

FACES = ("terminal", "notebook")
OUT = Path(__file__).parents[2] / "screenshots"


def main(wanted: list[str]) -> int:
    """The exit code: 2 for an unknown face."""
    unknown = set(wanted) - set(FACES)
    if unknown:
        print(f"No such face: {', '.join(sorted(unknown))}. There are: {', '.join(FACES)}.")
        return 2
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        _own_home(Path(temporary))
        papers = write(Path(temporary) / "contracts")
        for face in wanted or FACES:
            importlib.import_module(f"screenshots.{face}").shoot(papers, OUT)
    return 0


def _own_home(home: Path) -> None:
    """Lives in an empty home: nothing of this machine's user gets into a picture."""
    for name in ("CARREL_URL", "CARREL_API_KEY", "MISTRAL_API_KEY", "NO_COLOR", "TEXTUAL_THEME"):
        os.environ.pop(name, None)
    os.environ["HOME"] = str(home)
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        os.environ[f"XDG_{kind}_HOME"] = str(home / kind.lower())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
