"""The state of agents, their versions and drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.agents.compare import FieldChange
from carrel.store.agents.drafts import Draft
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.generation.agents import Agent, AgentAlias


@dataclass(frozen=True, slots=True)
class AgentsState:
    """All agents, the selected agent's versions (newest first), and the comparison of two marked
    ones.

    `drafts` holds all drafts; a deleted agent's draft becomes one of a new agent. `as_of` is the
    time (seconds since 1970) at which a cached list was current, shown while the service is
    unreachable.
    """

    items: tuple[Agent, ...] = ()
    selected: str | None = None
    versions: tuple[Agent, ...] = ()
    aliases: tuple[AgentAlias, ...] = ()
    marked: tuple[int, ...] = ()
    diff: tuple[FieldChange, ...] = ()
    drafts: tuple[Draft, ...] = ()
    as_of: float | None = None
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    @property
    def agent(self) -> Agent | None:
        """The selected agent in its active version."""
        return next((agent for agent in self.items if agent.id == self.selected), None)

    @property
    def draft(self) -> Draft | None:
        """The draft of the selected agent."""
        return next((draft for draft in self.drafts if draft.agent_id == self.selected), None)


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch of the active version from one to another."""

    came_from: int
    to: int
