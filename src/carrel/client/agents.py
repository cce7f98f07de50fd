"""The agents of a service, their versions and aliases."""

import builtins
from collections.abc import AsyncIterator
from functools import partial

from carrel.client.http.area import Area, every
from carrel.client.http.keywords import fields_of
from carrel.wire.generation.agents import (
    Agent,
    AgentAlias,
    AgentCreate,
    AgentPage,
    AgentPageQuery,
    AgentQuery,
    AgentUpdate,
    AliasRequest,
    VersionsQuery,
    VersionSwitch,
)


class Agents(Area):
    """`/v1/agents`."""

    @fields_of(AgentQuery)
    async def list(self, query: AgentQuery) -> builtins.list[Agent]:
        """Return a page of the agents, each in its active version; pages count from 0."""
        return await self._call(list[Agent], "GET", "/v1/agents", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[Agent]:
        """Yield all agents, or those whose name or id contains `search`, page by page."""
        return every(self.list, lambda agent: agent.id, search=search)

    @fields_of(AgentPageQuery)
    async def pages(self, query: AgentPageQuery) -> AgentPage:
        """Return a page of the agents, with the token of the next page."""
        return await self._call(AgentPage, "GET", "/v1/agents/pages", query=query)

    @fields_of(AgentCreate)
    async def create(self, agent: AgentCreate, *, if_absent: bool = False) -> Agent:
        """Create an agent as version 0, from an AgentCreate or its fields as keywords.

        `if_absent` makes the bundled server return your own agent of that name unchanged if it
        exists; concurrent calls get the same agent.
        """
        return await self._call(
            Agent,
            "POST",
            "/v1/agents",
            body=agent.body(),
            prefer="if-absent" if if_absent else None,
        )

    async def get(self, agent_id: str, version: int | str | None = None) -> Agent:
        """Return an agent in its active version, a numbered version or an alias's."""
        return await self._call(
            Agent, "GET", "/v1/agents/{}", agent_id, query={"agent_version": version}
        )

    @fields_of(AgentUpdate)
    async def update(self, agent_id: str, changes: AgentUpdate) -> Agent:
        """Create a new version with these changes, and activate it.

        `changes`: an AgentUpdate, or its fields as keywords.
        """
        return await self._call(Agent, "PATCH", "/v1/agents/{}", agent_id, body=changes.body())

    async def delete(self, agent_id: str) -> None:
        """Delete an agent with all its versions."""
        await self._send("DELETE", "/v1/agents/{}", agent_id)

    async def switch(self, agent_id: str, version: int) -> Agent:
        """Activate an existing version."""
        return await self._call(
            Agent, "PATCH", "/v1/agents/{}/version", agent_id, query=VersionSwitch(version=version)
        )

    @fields_of(VersionsQuery)
    async def versions(self, agent_id: str, query: VersionsQuery) -> builtins.list[Agent]:
        """Return a page of an agent's versions; pages count from 0."""
        return await self._call(list[Agent], "GET", "/v1/agents/{}/versions", agent_id, query=query)

    def every_version(self, agent_id: str) -> AsyncIterator[Agent]:
        """Return all versions of an agent, page by page."""
        return every(partial(self.versions, agent_id), lambda agent: agent.version)

    async def version(self, agent_id: str, version: int) -> Agent:
        """Return an agent in one version."""
        return await self._call(Agent, "GET", "/v1/agents/{}/versions/{}", agent_id, version)

    async def aliases(self, agent_id: str) -> builtins.list[AgentAlias]:
        """Return the aliases of an agent's versions."""
        return await self._call(list[AgentAlias], "GET", "/v1/agents/{}/aliases", agent_id)

    async def set_alias(self, agent_id: str, alias: str, version: int) -> AgentAlias:
        """Point an alias at a version; it leaves its former version."""
        query = AliasRequest(alias=alias, version=version)
        return await self._call(AgentAlias, "PUT", "/v1/agents/{}/aliases", agent_id, query=query)

    async def delete_alias(self, agent_id: str, alias: str) -> None:
        """Delete an alias; its version stays."""
        await self._send("DELETE", "/v1/agents/{}/aliases", agent_id, query={"alias": alias})
