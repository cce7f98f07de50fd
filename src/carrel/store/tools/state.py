"""Tool calls, and the consents that tools need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from carrel.store.core.problem import Problem
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.wire.generation.tools import FunctionTool

Kind = Literal["command", "server"]

Permission = Literal["no", "once", "chat", "always"]
"""The user's answer to a question for consent, with its scope."""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A function call of an answer; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent that a tool of the settings needs before it first runs.

    `runs` is its command line or address. `mark` identifies the tool and the service whose agents
    may use it: a changed command, argument, variable or header changes the mark. `arguments` are
    those of the asking call, and `chat` is its chat.
    """

    name: str
    kind: Kind
    runs: str
    mark: str
    arguments: str = ""
    chat: str | None = None

    @property
    def key(self) -> str:
        """Identifies the consent among the open ones."""
        return f"{self.mark} {self.arguments}"


@dataclass(frozen=True, slots=True)
class ToolsState:
    """`asking` are the open questions for consent, oldest first."""

    asking: tuple[Consent, ...] = ()
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool in the settings, and whether its consent was given."""

    consent: Consent
    allowed: bool


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
