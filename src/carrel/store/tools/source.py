"""The one shape of everything that answers calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

LONGEST_RESULT = 100_000
"""Characters of a result that a model is given."""


class ToolSource(Protocol):
    """Tools of one origin."""

    async def list(self) -> Sequence[FunctionTool]:
        """Return its tools, as a request offers them.

        Raises:
            ProblemError: they cannot be had.
        """

    async def call(self, name: str, arguments: str) -> str:
        """Call a tool with JSON text; return its result, or its error in words for the model."""

    async def close(self) -> None:
        """End what it has started."""


def as_result(text: str) -> str:
    """Return what a tool answered, cleaned and cut for a model."""
    cleaned = clean_text(text).strip()
    if len(cleaned) <= LONGEST_RESULT:
        return cleaned
    return f"{cleaned[:LONGEST_RESULT]}\n… (cut after {LONGEST_RESULT:,} characters)"
