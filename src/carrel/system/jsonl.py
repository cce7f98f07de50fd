"""Files of JSON lines, which any process may append to."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def append_line(path: Path, value: object) -> None:
    """Append a value to a file, which is made for its owner alone if it is missing.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        # Line break first, so that an earlier truncated line spoils only itself.
        file.write("\n" + json.dumps(value))


def read_lines(path: Path) -> Iterator[Any]:
    """Yield the values of a file, without truncated lines; none if it cannot be read."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)
