"""The common interface of all sources of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

LONGEST_RESULT = 100_000
"""Most characters of a result that a model gets."""


class ToolSource(Protocol):
    """Tools of one origin."""

    async def list(self) -> Sequence[FunctionTool]:
        """Return the source's tools in a request's form.

        Raises:
            ProblemError: the tools are unavailable.
        """

    async def call(self, name: str, arguments: str) -> str:
        """Call a tool with JSON text; return its result, or its error as text for the model."""

    async def close(self) -> None:
        """Release what the source has started."""


def as_result(text: str) -> str:
    """Return a tool's output, cleaned and truncated for a model."""
    cleaned = clean_text(text).strip()
    if len(cleaned) <= LONGEST_RESULT:
        return cleaned
    return f"{cleaned[:LONGEST_RESULT]}\n… (cut after {LONGEST_RESULT:,} characters)"
