"""A preview in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.store.previews.state import PreviewState


def preview_lines(state: PreviewState) -> tuple[tuple[str, str], ...]:
    """Return a text's lines, each with its number where every line is a record of its own."""
    lines = state.text.splitlines()
    numbered = state.kind == "lines"
    rows = [(str(at) if numbered else "", line) for at, line in enumerate(lines, 1)]
    return (*rows, ("", "…")) if state.more else tuple(rows)
