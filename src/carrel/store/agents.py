"""Agents: their versions, which one is active, what changed between two."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.action import Policy, action
from carrel.store.area import Area
from carrel.store.loop import OwnerLoop
from carrel.store.notifications import NotificationsService
from carrel.store.problem import Problem
from carrel.store.selectors.diff import FieldChange, compare_agents
from carrel.store.session import SessionService

if TYPE_CHECKING:
    from carrel.wire.agents import Agent, AgentAlias, AgentCreate, AgentUpdate

PAGE = 100


@dataclass(frozen=True, slots=True)
class AgentsState:
    """The agents; the versions of the selected one, newest first; two marked ones compared."""

    items: tuple[Agent, ...] = ()
    selected: str | None = None
    versions: tuple[Agent, ...] = ()
    aliases: tuple[AgentAlias, ...] = ()
    marked: tuple[int, ...] = ()
    diff: tuple[FieldChange, ...] = ()
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None


class AgentsService(Area[AgentsState]):
    def __init__(
        self, loop: OwnerLoop, session: SessionService, notifications: NotificationsService
    ) -> None:
        super().__init__(loop, AgentsState(), session)
        self._notifications = notifications

    @action(Policy.LATEST)
    async def load(self) -> None:
        """Loads the agents, and the versions of the selected one."""
        with self._loading():
            await self._load()

    @action(Policy.LATEST, lane="load")
    async def select(self, agent_id: str | None) -> None:
        """Makes an agent the selected one and loads its versions."""
        self._choose(agent_id)
        with self._loading():
            await self._load_versions()

    @action(Policy.SINGLE, changes=True)
    async def create(self, agent: AgentCreate) -> Agent:
        """Makes an agent, version 0, and selects it."""
        client = await self._session.client()
        made = await client.agents.create(agent)
        await self._show(made)
        return made

    @action(Policy.SINGLE, changes=True)
    async def update(self, agent_id: str, change: AgentUpdate) -> Agent:
        """Makes a new version of an agent, which becomes the active one."""
        client = await self._session.client()
        changed = await client.agents.update(agent_id, change)
        await self._show(changed)
        self._notifications.notify(f"{changed.name} is now v{changed.version}.")
        return changed

    @action(Policy.SINGLE, changes=True)
    async def switch(self, agent_id: str, version: int) -> Agent:
        """Makes a version the active one."""
        client = await self._session.client()
        changed = await client.agents.switch(agent_id, version)
        await self._show(changed)
        self._notifications.notify(f"{changed.name} v{changed.version} is active.")
        return changed

    @action(Policy.SINGLE, changes=True)
    async def delete(self, agent_id: str) -> None:
        """Deletes an agent with all its versions."""
        client = await self._session.client()
        await client.agents.delete(agent_id)
        with self._loading():
            await self._load()

    @action(Policy.QUEUE)
    async def mark_version(self, version: int) -> None:
        """Marks a version, or takes its mark away. The two marked last are compared."""
        marked = self.slice.value.marked
        if version in marked:
            marked = tuple(number for number in marked if number != version)
        else:
            marked = (*marked, version)[-2:]
        self._compare(marked)

    @action(Policy.QUEUE)
    async def compare(self, old: int, new: int) -> None:
        """Compares two versions of the selected agent."""
        self._compare((old, new))

    async def _show(self, agent: Agent) -> None:
        self._choose(agent.id)
        with self._loading():
            await self._load()

    async def _load(self) -> None:
        client = await self._session.client()
        items = await _all(lambda page: client.agents.list(page=page, page_size=PAGE))
        self.slice.set(items=tuple(items), loaded=True)
        if self.slice.value.selected not in {agent.id for agent in items}:
            self._choose(items[0].id if items else None)
        await self._load_versions()

    async def _load_versions(self) -> None:
        agent_id = self.slice.value.selected
        if agent_id is None:
            return
        client = await self._session.client()
        versions = await _all(
            lambda page: client.agents.versions(agent_id, page=page, page_size=PAGE)
        )
        aliases = await client.agents.aliases(agent_id)
        newest_first = sorted(versions, key=lambda agent: agent.version, reverse=True)
        self.slice.set(versions=tuple(newest_first), aliases=tuple(aliases))
        self._compare(self.slice.value.marked)

    def _compare(self, marked: tuple[int, ...]) -> None:
        versions = {agent.version: agent for agent in self.slice.value.versions}
        marked = tuple(number for number in marked if number in versions)
        diff: tuple[FieldChange, ...] = ()
        if len(marked) == 2:
            old, new = sorted(marked)
            diff = compare_agents(versions[old], versions[new])
        self.slice.set(marked=marked, diff=diff)

    def _choose(self, agent_id: str | None) -> None:
        if agent_id != self.slice.value.selected:
            self.slice.set(selected=agent_id, versions=(), aliases=(), marked=(), diff=())


async def _all(load: Callable[[int], Awaitable[list[Agent]]]) -> list[Agent]:
    """Every page of a list, one after the other."""
    found: list[Agent] = []
    while True:
        page = await load(len(found) // PAGE)
        found += page
        if len(page) < PAGE:
            return found
