"""Tool calls, and the consents that tools need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

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
