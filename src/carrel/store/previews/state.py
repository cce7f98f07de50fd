"""The state of the preview."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from carrel.store.cache.copies import Copy
from carrel.store.core.problem import Problem


def preview_lines(state: PreviewState) -> tuple[tuple[str, str], ...]:
    """Return a text's lines, each with its number if every line is a record."""
    lines = state.text.splitlines()
    numbered = state.kind == "lines"
    rows = [(str(at) if numbered else "", line) for at, line in enumerate(lines, 1)]
    return (*rows, ("", "…")) if state.more else tuple(rows)


PreviewKind = Literal["text", "lines", "picture", "none"]


@dataclass(frozen=True, slots=True)
class PreviewState:
    """The preview of a file. `lines`: each line of `text` is a record. `more`: the text is
    truncated.

    The picture is drawn from `copy`; `note` is the reason for a missing preview.
    """

    file_id: str | None = None
    kind: PreviewKind = "none"
    text: str = ""
    more: bool = False
    copy: Copy | None = None
    page_count: int | None = None
    note: str = ""
    loading: bool = False
    error: Problem | None = None

    @property
    def path(self) -> Path | None:
        """The path of the copy, or None."""
        return None if self.copy is None else self.copy.path
