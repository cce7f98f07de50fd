"""Histories on disk: one JSON file a profile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from carrel.system.atomic import write_private

FORMAT = 1
KEPT = 50
"""Texts that are kept of each list."""


def load_histories(path: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the saved histories; none where there are none that can be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return {}
        return {str(name): tuple(map(str, texts))[-KEPT:] for name, texts in data["texts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save_histories(path: Path, texts: Mapping[str, tuple[str, ...]]) -> None:
    """Write the histories.

    Raises:
        OSError: it cannot be written.
    """
    write_private(path, json.dumps({"format": FORMAT, "texts": texts}, ensure_ascii=False))
