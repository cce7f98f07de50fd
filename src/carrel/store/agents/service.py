"""Agents: versions, the active one, comparison, drafts and aliases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.store.agents.compare import FieldChange, compare_agents
from carrel.store.agents.drafts import Draft, SavedDrafts
from carrel.store.agents.state import AgentsState, Switched
from carrel.store.agents.trials import is_left_over, is_trial, remove_trial
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.deleting import delete_each
from carrel.store.core.formatting import counted
from carrel.store.core.problem import ProblemError
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.agents.plan import Plan, Step
    from carrel.wire.generation.agents import Agent, AgentAlias, AgentCreate, AgentUpdate


class AgentsService(Area, Service[AgentsState]):
    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, AgentsState())
        self._switched: dict[str, list[Switched]] = {}
        self._versions_of: Agent | None = None
        """The agent, as listed, when its shown versions were requested."""

    @action(Policy.BESIDE)
    async def list_all(self) -> Sequence[Agent]:
        """Return all agents of the service, without changing the list."""
        return await _every(await self._session.client())

    @action(Policy.LATEST, lane="versions")
    def select(self, agent_id: str | None) -> Coroutine[Any, Any, None]:
        """Make an agent the selected one and load its versions."""
        self._choose(agent_id)
        return self._select(agent_id)

    async def _select(self, agent_id: str | None) -> None:
        with self._set_loading():
            await self._load_versions(agent_id)

    @action(Policy.BESIDE)
    async def plan(self, paths: Sequence[Path], delete: Sequence[str] = ()) -> Plan:
        """Return the differences between agents and their files, without changing anything."""
        from carrel.store.agents.plan import make_plan

        return await make_plan(await self._session.client(), paths, delete)

    @action(Policy.SINGLE, lane="update", changes=True)
    async def apply(self, plan: Plan) -> tuple[Step, ...]:
        """Carry out exactly the planned changes; return the executed steps."""
        from carrel.store.agents.plan import carry_out

        client = await self._session.client()
        try:
            return tuple([step async for step in carry_out(client, plan)])
        finally:
            self.reload()

    @action(Policy.QUEUE, changes=True)
    def create(self, agent: AgentCreate) -> Coroutine[Any, Any, Agent]:
        """Create an agent as version 0; select it unless another was selected meanwhile."""
        return self._create(agent, self.slice.value.selected)

    async def _create(self, agent: AgentCreate, selected: str | None) -> Agent:
        client = await self._session.client()
        made = await client.agents.create(agent)
        await self._show(made, selected)
        return made

    @action(Policy.SINGLE, changes=True)
    def update(self, agent_id: str, change: AgentUpdate) -> Coroutine[Any, Any, Agent]:
        """Create a new version of an agent and activate it."""
        return self._update(agent_id, change, self.slice.value.selected)

    async def _update(self, agent_id: str, change: AgentUpdate, selected: str | None) -> Agent:
        client = await self._session.client()
        before = await client.agents.get(agent_id)
        changed = await client.agents.update(agent_id, change)
        self._remember(before, changed)
        await self._show(changed, selected)
        self._notifications.notify(f"{changed.name} is now v{changed.version}.")
        return changed

    @action(Policy.SINGLE, lane="update", changes=True)
    def save(self, draft: Draft) -> Coroutine[Any, Any, Agent | None]:
        """Save a draft as an agent's next version or a new agent. Then drop the draft, unless it
        changed meanwhile.

        Returns None if the draft equals the active version.
        """
        return self._save(draft, self.slice.value.selected)

    async def _save(self, draft: Draft, selected: str | None) -> Agent | None:
        client = await self._session.client()
        if draft.agent_id is None:
            saved = await client.agents.create(draft.create())
        else:
            # Compare with the version active now: another client may have changed it.
            agent = await client.agents.get(draft.agent_id)
            change = draft.update(agent)
            if change is None:
                await self._drop_saved(draft)
                return None
            saved = await client.agents.update(agent.id, change)
            self._remember(agent, saved)
            self._notifications.notify(f"{saved.name} is now v{saved.version}.")
        await self._drop_saved(draft)
        await self._show(saved, selected)
        return saved

    @action(Policy.SINGLE, lane="update", changes=True)
    async def use_model(self, agent_ids: Sequence[str], model: str) -> None:
        """Create and activate a new version of each agent with another model."""
        from carrel.wire.generation.agents import AgentUpdate

        client = await self._session.client()
        for agent_id in agent_ids:
            agent = await client.agents.get(agent_id)
            change = AgentUpdate(model=model, version_message=f"Model {model}"[:500])
            self._remember(agent, await client.agents.update(agent_id, change))
        await self.reload().settled()
        self._notifications.notify(f"Switched {counted(len(agent_ids), 'agent')} to {model}.")

    @action(Policy.QUEUE, lane="drafts")
    async def keep(self, draft: Draft) -> None:
        """Save a draft on disk, or drop it if it equals its version."""
        if draft in self.slice.value.drafts:
            return
        saved = self._draft_files()
        if self._says_something(draft):
            await asyncio.to_thread(saved.save, replace(draft, updated=time.time()))
        else:
            await asyncio.to_thread(saved.forget, draft.id)
        await self._load_drafts()

    @action(Policy.QUEUE, lane="drafts")
    async def write(self, draft: Draft, libraries: Mapping[str, str]) -> Path:
        """Write a draft as YAML for an editor and return the path.

        Text that an earlier edit left because it was invalid is kept. `libraries` maps ids to
        names.
        """
        from carrel.store.agents.agent_yaml import to_yaml

        drafts = self.slice.value.drafts
        since = next((each.updated for each in drafts if each.id == draft.id), 0.0)
        text = to_yaml(draft, libraries)
        return await asyncio.to_thread(self._draft_files().editor_file, draft.id, text, since)

    @action(Policy.QUEUE, lane="drafts")
    async def drop(self, draft_id: str) -> None:
        """Delete a draft."""
        await asyncio.to_thread(self._draft_files().delete, draft_id)
        await self._load_drafts()

    @action(Policy.QUEUE, lane="drafts")
    async def _drop_saved(self, saved: Draft) -> None:
        await self._load_drafts()
        kept = next((draft for draft in self.slice.value.drafts if draft.id == saved.id), saved)
        # Text typed since the draft was sent is not saved yet.
        if (kept.fields, kept.message) == (saved.fields, saved.message):
            await asyncio.to_thread(self._draft_files().delete, saved.id)
            await self._load_drafts()

    @action(Policy.SINGLE, changes=True)
    def switch(self, agent_id: str, version: int) -> Coroutine[Any, Any, Agent]:
        """Activate a version."""
        return self._switch(agent_id, version, self.slice.value.selected)

    async def _switch(self, agent_id: str, version: int, selected: str | None) -> Agent:
        client = await self._session.client()
        before = await client.agents.get(agent_id)
        changed = await client.agents.switch(agent_id, version)
        self._remember(before, changed)
        await self._show_active(changed, selected)
        return changed

    @action(Policy.SINGLE, lane="switch", changes=True)
    def roll_back(self, agent_id: str, to: int | None = None) -> Coroutine[Any, Any, Agent]:
        """Activate the previously active version, else the next lower one.

        `to` is the version that the user confirmed; another one is not activated.
        """
        return self._roll_back(agent_id, to, self.slice.value.selected)

    async def _roll_back(self, agent_id: str, to: int | None, selected: str | None) -> Agent:
        client = await self._session.client()
        agent = await client.agents.get(agent_id)
        version = self.active_before(agent)
        if to not in (None, version):
            raise ProblemError(
                f"{agent.name} v{agent.version} became active meanwhile",
                "Nothing was changed.",
                "Look again, then roll back.",
            )
        changed = await client.agents.switch(agent_id, version)
        if switched := self._switched.get(agent_id):
            switched.pop()
        await self._show_active(changed, selected)
        return changed

    @action(Policy.QUEUE, lane="alias", changes=True)
    async def set_alias(self, agent_id: str, alias: str, version: int) -> None:
        """Point an alias at a version; it leaves its former version."""
        client = await self._session.client()
        try:
            made = await client.agents.set_alias(agent_id, alias, version)
        except ValueError as error:
            raise ProblemError(
                f"“{alias}” cannot be an alias",
                "Use lower-case letters, digits, _ and -, beginning with a letter.",
            ) from error
        await self._load_versions_again().settled()
        self._notifications.notify(f"{made.alias} is now v{made.version}.")

    @action(Policy.QUEUE, lane="alias", changes=True)
    async def remove_alias(self, agent_id: str, alias: str) -> None:
        """Remove an alias; its version stays."""
        client = await self._session.client()
        await client.agents.delete_alias(agent_id, alias)
        await self._load_versions_again().settled()
        self._notifications.notify(f"Removed the alias {alias}.")

    @action(Policy.QUEUE, changes=True)
    async def delete(self, agent_id: str) -> None:
        """Delete an agent with all its versions. A missing agent counts as deleted."""
        client = await self._session.client()
        deleted = await delete_each({agent_id: "this"}, client.agents.delete, lambda id: None)
        deleted.check("agent", "agents")
        self._trash.note_deletion("agents", deleted, ("agent", "agents"), self.reload)
        await self.drop(agent_id).settled()
        await self.reload().settled()

    @instant
    def mark_version(self, version: int) -> None:
        """Toggle a version's mark; the two versions marked last are compared."""
        marked = self.slice.value.marked
        if version in marked:
            marked = tuple(number for number in marked if number != version)
        else:
            marked = (*marked, version)[-2:]
        self._compare(marked)

    @instant
    def compare(self, old: int, new: int) -> None:
        """Compare two versions of the selected agent."""
        self._compare((old, new))

    def _remember(self, before: Agent, now: Agent) -> None:
        """Remember the replaced version, to roll back to."""
        if before.version != now.version:
            switched = Switched(before.version, now.version)
            self._switched.setdefault(now.id, []).append(switched)

    def active_before(self, agent: Agent) -> int:
        """Return the version to roll back to.

        Raises:
            ProblemError: there is no version to roll back to.
        """
        switched = self._switched.get(agent.id, [])
        # Another client activated a version since: these switches no longer apply.
        while switched and switched[-1].to != agent.version:
            switched.pop()
        below = [number for number in agent.versions if number < agent.version]
        if not switched and not below:
            raise ProblemError(
                "There is no version to roll back to",
                f"{agent.name} v{agent.version} is its first.",
            )
        return switched[-1].came_from if switched else max(below)

    def _says_something(self, draft: Draft) -> bool:
        if draft.agent_id is None:
            return bool(draft.fields.keys() - {"model"})
        agents = (agent for agent in self.slice.value.items if agent.id == draft.agent_id)
        agent = next(agents, None)
        return agent is None or draft.differs_from(agent)

    async def _load_drafts(self) -> None:
        drafts = await asyncio.to_thread(self._draft_files().all)
        state = self.slice.value
        self.slice.set(drafts=_adopt(drafts, state.items) if state.loaded else drafts)

    def _draft_files(self) -> SavedDrafts:
        profile = self._session.profile
        return SavedDrafts(profile.folders.state, profile.storage_name)

    async def _show_active(self, agent: Agent, selected: str | None) -> None:
        await self._show(agent, selected)
        self._notifications.notify(f"{agent.name} v{agent.version} is active.")

    async def _show(self, agent: Agent, selected: str | None) -> None:
        """Select and load an agent, unless another was chosen after `selected`."""
        # With nothing selected, only a load selects: the first of its list.
        if selected is None or self.slice.value.selected == selected:
            self._choose(agent.id)
        await self.reload().settled()

    async def _load(self) -> None:
        """Load the agents, the versions of the selected one, and the drafts."""
        with self._set_loading():
            await self._load_all()

    async def _load_all(self) -> None:
        await self._load_drafts_in_turn().settled()
        selected = self.slice.value.selected
        agents, as_of = await self._load_agents()
        items = [agent for agent in agents if not is_trial(agent)]
        drafts = _adopt(self.slice.value.drafts, items)
        self.slice.set(items=tuple(items), drafts=drafts, as_of=as_of, loaded=True)
        # An agent selected meanwhile may be newer than this list.
        if self.slice.value.selected == selected and selected not in {item.id for item in items}:
            self._choose(items[0].id if items else None)
        await self._load_versions_again().settled()
        if as_of is None and not self._session.slice.value.read_only:
            client = await self._session.client()
            for agent in agents:
                if is_left_over(agent, time.time()):
                    await remove_trial(client, agent.id)

    async def _load_agents(self) -> tuple[tuple[Agent, ...], float | None]:
        """Return all agents, and the time at which a cached copy of them was current."""
        from carrel.wire.generation.agents import Agent

        seen = await self._last_seen.ask("agents", tuple[Agent, ...], _every)
        return seen.value, seen.as_of

    @action(Policy.QUEUE, lane="drafts")
    async def _load_drafts_in_turn(self) -> None:
        await self._load_drafts()

    @action(Policy.RENEW, lane="versions")
    async def _load_versions_again(self) -> None:
        await self._load_versions(self.slice.value.selected)

    async def _load_versions(self, agent_id: str | None) -> None:
        """Load the versions of an agent; drop them if another was selected meanwhile."""
        if agent_id is None:
            return
        agent = self.slice.value.agent
        shown = self.slice.value.versions
        # Versions are immutable: load them again only if the agent changed.
        same = bool(shown) and agent is not None and agent == self._versions_of
        versions = shown if same else await self._every_version(agent_id)
        aliases = await self._every_alias(agent_id)
        if self.slice.value.selected != agent_id:
            return
        self._versions_of = agent
        self.slice.set(versions=versions, aliases=aliases)
        self._compare(self.slice.value.marked)

    async def _every_version(self, agent_id: str) -> tuple[Agent, ...]:
        """Return the versions of an agent, newest first."""
        from carrel.wire.generation.agents import Agent

        async def load(client: Client) -> list[Agent]:
            return [version async for version in client.agents.every_version(agent_id)]

        seen = await self._last_seen.ask(f"versions {agent_id}", list[Agent], load)
        return tuple(sorted(seen.value, key=lambda agent: agent.version, reverse=True))

    async def _every_alias(self, agent_id: str) -> tuple[AgentAlias, ...]:
        from carrel.wire.generation.agents import AgentAlias

        seen = await self._last_seen.ask(
            f"aliases {agent_id}", list[AgentAlias], lambda client: client.agents.aliases(agent_id)
        )
        return tuple(seen.value)

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


async def _every(client: Client) -> tuple[Agent, ...]:
    return tuple([agent async for agent in client.agents.every()])


def _adopt(drafts: Sequence[Draft], agents: Sequence[Agent]) -> tuple[Draft, ...]:
    """Return the drafts; a deleted agent's draft becomes a draft of a new agent."""
    there = {agent.id for agent in agents}
    return tuple(
        draft if draft.agent_id in there else replace(draft, agent_id=None, base=None)
        for draft in drafts
    )
