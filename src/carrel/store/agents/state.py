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
    """The agents; the versions of the selected one, newest first; two marked ones compared.

    `drafts` has the drafts of all agents and of new ones; the draft of a deleted agent is one of
    a new agent. `as_of` is when a copy of the list was current (seconds since 1970), shown while
    the service is out of reach.
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
        """The selected agent, as its active version has it."""
        return next((agent for agent in self.items if agent.id == self.selected), None)

    @property
    def draft(self) -> Draft | None:
        """The draft of the selected agent."""
        return next((draft for draft in self.drafts if draft.agent_id == self.selected), None)


@dataclass(frozen=True, slots=True)
class Switched:
    """A version took the place of another as the active one."""

    came_from: int
    to: int
