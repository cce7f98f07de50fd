"""Agents: their versions, which one is active, what changed between two, what is not saved yet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.action import Policy, action
from carrel.store.area import Area
from carrel.store.asking import is_left_over, is_trial, remove_trial
from carrel.store.drafts import Draft, SavedDrafts
from carrel.store.loop import OwnerLoop
from carrel.store.notifications import NotificationsService
from carrel.store.problem import Problem, ProblemError
from carrel.store.selectors.diff import FieldChange, compare_agents
from carrel.store.session import SessionService

if TYPE_CHECKING:
    from carrel.wire.agents import Agent, AgentAlias, AgentCreate, AgentUpdate


@dataclass(frozen=True, slots=True)
class AgentsState:
    """The agents; the versions of the selected one, newest first; two marked ones compared.

    `drafts` has what is not saved yet, of any agent, and new agents. Where the agent was deleted
    meanwhile, its draft is one of a new agent.
    """

    items: tuple[Agent, ...] = ()
    selected: str | None = None
    versions: tuple[Agent, ...] = ()
    aliases: tuple[AgentAlias, ...] = ()
    marked: tuple[int, ...] = ()
    diff: tuple[FieldChange, ...] = ()
    drafts: tuple[Draft, ...] = ()
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    @property
    def agent(self) -> Agent | None:
        """The selected agent, as its active version has it."""
        return next((agent for agent in self.items if agent.id == self.selected), None)

    @property
    def draft(self) -> Draft | None:
        """What is not saved yet of the selected agent."""
        return next((draft for draft in self.drafts if draft.agent_id == self.selected), None)


class AgentsService(Area[AgentsState]):
    def __init__(
        self, loop: OwnerLoop, session: SessionService, notifications: NotificationsService
    ) -> None:
        super().__init__(loop, AgentsState(), session)
        self._notifications = notifications
        self._active_before: dict[str, list[int]] = {}

    @action(Policy.LATEST)
    async def load(self) -> None:
        """Loads the agents, the versions of the selected one, and the drafts."""
        await self._load_drafts()
        with self._loading():
            await self._load()

    @action(Policy.LATEST, lane="load")
    async def select(self, agent_id: str | None) -> None:
        """Makes an agent the selected one and loads its versions."""
        self._choose(agent_id)
        with self._loading():
            await self._load_versions()

    @action(Policy.QUEUE, changes=True)
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

    @action(Policy.SINGLE, lane="update", changes=True)
    async def save(self, draft: Draft) -> Agent | None:
        """Saves a draft: an agent's next version, or a new agent. It is no draft any more then.

        None when it does not differ from the active version.
        """
        client = await self._session.client()
        if draft.agent_id is None:
            saved = await client.agents.create(draft.create())
        else:
            # Against what is active now, which somebody else may have changed meanwhile.
            agent = await client.agents.get(draft.agent_id)
            change = draft.update(agent)
            if change is None:
                await self.drop(draft.id)
                return None
            saved = await client.agents.update(agent.id, change)
            self._remember(agent)
            self._notifications.notify(f"{saved.name} is now v{saved.version}.")
        await self.drop(draft.id)
        await self._show(saved)
        return saved

    @action(Policy.QUEUE, lane="drafts")
    async def keep(self, draft: Draft) -> None:
        """Keeps a draft on disk. One that differs in nothing from its version is dropped."""
        if draft in self.slice.value.drafts:
            return
        saved = self._saved()
        if self._says_something(draft):
            await asyncio.to_thread(saved.save, replace(draft, updated=time.time()))
        else:
            await asyncio.to_thread(saved.forget, draft.id)
        await self._load_drafts()

    @action(Policy.QUEUE, lane="drafts")
    async def write(self, draft: Draft, libraries: Mapping[str, str]) -> Path:
        """The path of a draft as YAML, for an editor.

        What an editor left of it, because it could not be read, is there again. `libraries`
        gives names for library ids.
        """
        from carrel.store.agent_yaml import to_yaml

        kept = (each.updated for each in self.slice.value.drafts if each.id == draft.id)
        text = to_yaml(draft, libraries)
        return await asyncio.to_thread(self._saved().text, draft.id, text, next(kept, 0.0))

    @action(Policy.QUEUE, lane="drafts")
    async def drop(self, draft_id: str) -> None:
        """Drops a draft for good."""
        await asyncio.to_thread(self._saved().delete, draft_id)
        await self._load_drafts()

    @action(Policy.SINGLE, changes=True)
    async def switch(self, agent_id: str, version: int) -> Agent:
        """Makes a version the active one."""
        client = await self._session.client()
        self._remember(await client.agents.get(agent_id))
        return await self._switch(agent_id, version)

    @action(Policy.SINGLE, lane="switch", changes=True)
    async def roll_back(self, agent_id: str) -> Agent:
        """Makes the version active that was active before, else the one below the active one."""
        client = await self._session.client()
        agent = await client.agents.get(agent_id)
        before = self._active_before.get(agent_id)
        below = [number for number in agent.versions if number < agent.version]
        if not before and not below:
            raise ProblemError(
                Problem(
                    "There is no version to roll back to",
                    f"{agent.name} v{agent.version} is its first.",
                )
            )
        return await self._switch(agent_id, before.pop() if before else max(below))

    @action(Policy.QUEUE, lane="alias", changes=True)
    async def set_alias(self, agent_id: str, alias: str, version: int) -> None:
        """Points an alias at a version, away from the one it pointed at."""
        client = await self._session.client()
        try:
            made = await client.agents.set_alias(agent_id, alias, version)
        except ValueError:
            raise ProblemError(
                Problem(
                    f"“{alias}” cannot be an alias",
                    "It has small letters, digits, _ and -, with a letter first.",
                )
            ) from None
        await self._load_versions()
        self._notifications.notify(f"{made.alias} is v{made.version} now.")

    @action(Policy.QUEUE, lane="alias", changes=True)
    async def remove_alias(self, agent_id: str, alias: str) -> None:
        """Takes an alias away; its version stays."""
        client = await self._session.client()
        await client.agents.delete_alias(agent_id, alias)
        await self._load_versions()
        self._notifications.notify(f"{alias} names no version now.")

    @action(Policy.QUEUE, changes=True)
    async def delete(self, agent_id: str) -> None:
        """Deletes an agent with all its versions."""
        client = await self._session.client()
        await client.agents.delete(agent_id)
        await self.drop(agent_id)
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

    async def _switch(self, agent_id: str, version: int) -> Agent:
        client = await self._session.client()
        changed = await client.agents.switch(agent_id, version)
        await self._show(changed)
        self._notifications.notify(f"{changed.name} v{changed.version} is active.")
        return changed

    def _remember(self, agent: Agent) -> None:
        """Remembers what is active, to be rolled back to."""
        self._active_before.setdefault(agent.id, []).append(agent.version)

    def _says_something(self, draft: Draft) -> bool:
        if draft.agent_id is None:
            return bool(draft.fields.keys() - {"model"})
        agents = (agent for agent in self.slice.value.items if agent.id == draft.agent_id)
        agent = next(agents, None)
        return agent is None or draft.differs_from(agent)

    async def _load_drafts(self) -> None:
        drafts = await asyncio.to_thread(self._saved().all)
        state = self.slice.value
        self.slice.set(drafts=_adopted(drafts, state.items) if state.loaded else drafts)

    def _saved(self) -> SavedDrafts:
        from carrel.config import folders

        return SavedDrafts(folders().state, self._session.slice.value.profile)

    async def _show(self, agent: Agent) -> None:
        self._choose(agent.id)
        with self._loading():
            await self._load()

    async def _load(self) -> None:
        client = await self._session.client()
        agents = [agent async for agent in client.agents.every()]
        items = [agent for agent in agents if not is_trial(agent)]
        drafts = _adopted(self.slice.value.drafts, items)
        self.slice.set(items=tuple(items), drafts=drafts, loaded=True)
        if self.slice.value.selected not in {agent.id for agent in items}:
            self._choose(items[0].id if items else None)
        await self._load_versions()
        if not self._session.slice.value.read_only:
            for agent in agents:
                if is_left_over(agent, time.time()):
                    await remove_trial(client, agent.id)

    async def _load_versions(self) -> None:
        agent_id = self.slice.value.selected
        if agent_id is None:
            return
        client = await self._session.client()
        versions = [version async for version in client.agents.every_version(agent_id)]
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


def _adopted(drafts: Sequence[Draft], agents: Sequence[Agent]) -> tuple[Draft, ...]:
    """The drafts; those of agents that are not there any more are of new agents."""
    there = {agent.id for agent in agents}
    return tuple(
        draft if draft.agent_id in there else replace(draft, agent_id=None, base=None)
        for draft in drafts
    )
