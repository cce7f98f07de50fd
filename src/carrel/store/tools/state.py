"""A call of a tool, and what a person is asked before a tool first runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

Kind = Literal["command", "server"]

Permission = Literal["no", "once", "chat", "always"]
"""The answer to a question for permission, and for how long it counts."""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call of a function that an answer asks for; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Consent:
    """The permission that a tool of the settings needs before it first runs.

    `runs` is its command line or its address. `mark` stands for all of it and for the service whose
    agents may use it: another command, argument, variable or header is another mark. `arguments`
    are those of the call that asks for it, and `chat` is where that is.
    """

    name: str
    kind: Kind
    runs: str
    mark: str
    arguments: str = ""
    chat: str | None = None

    @property
    def key(self) -> str:
        """What tells it from others that are waited for."""
        return f"{self.mark} {self.arguments}"


@dataclass(frozen=True, slots=True)
class ToolsState:
    """`asking` are the permissions that are waited for, the oldest first."""

    asking: tuple[Consent, ...] = ()
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool of the settings, and whether it was allowed to run."""

    consent: Consent
    allowed: bool
