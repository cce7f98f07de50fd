"""The agents of a service, their versions and aliases."""

import builtins
from collections.abc import AsyncIterator
from typing import Any

from carrel.client.http.keywords import fields_of
from carrel.client.http.paging import PAGE, every
from carrel.client.http.transport import Transport, path_of
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


class Agents:
    """`/v1/agents`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        page: int = 0,
        page_size: int = 20,
        search: str | None = None,
        name: str | None = None,
        agent_id: str | None = None,
        deployment_chat: bool | None = None,
        sources: builtins.list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> builtins.list[Agent]:
        """Return a page of the agents, each as its active version has it; pages count from 0."""
        query = AgentQuery(
            page=page,
            page_size=page_size,
            search=search,
            name=name,
            id=agent_id,
            deployment_chat=deployment_chat,
            sources=sources,
            metadata=metadata,
        )
        return await self._transport.call(list[Agent], "GET", "/v1/agents", query=query)

    def every(self, search: str | None = None) -> AsyncIterator[Agent]:
        """Return all agents, or those whose name or id has a text, page after page."""

        async def page(number: int) -> builtins.list[Agent]:
            return await self.list(page=number, page_size=PAGE, search=search)

        return every(page, lambda agent: agent.id)

    async def pages(
        self,
        *,
        page_token: str | None = None,
        page_size: int = 20,
        search: str | None = None,
        name: str | None = None,
        agent_id: str | None = None,
        deployment_chat: bool | None = None,
        sources: builtins.list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> AgentPage:
        """Return a page of the agents, with the token of the next one."""
        query = AgentPageQuery(
            page_token=page_token,
            page_size=page_size,
            search=search,
            name=name,
            id=agent_id,
            deployment_chat=deployment_chat,
            sources=sources,
            metadata=metadata,
        )
        return await self._transport.call(AgentPage, "GET", "/v1/agents/pages", query=query)

    @fields_of(AgentCreate)
    async def create(self, agent: AgentCreate, *, if_absent: bool = False) -> Agent:
        """Make an agent, version 0, of an AgentCreate or of its fields as keywords.

        With `if_absent`, the bundled server answers with your own of that name as it is instead, if
        there is one; two who ask at once get the same.
        """
        return await self._transport.call(
            Agent,
            "POST",
            "/v1/agents",
            body=agent.body(),
            prefer="if-absent" if if_absent else None,
        )

    async def get(self, agent_id: str, version: int | str | None = None) -> Agent:
        """Return an agent as its active version, a numbered version or an alias has it."""
        return await self._transport.call(
            Agent, "GET", path_of("/v1/agents/{}", agent_id), query={"agent_version": version}
        )

    @fields_of(AgentUpdate)
    async def update(self, agent_id: str, changes: AgentUpdate) -> Agent:
        """Make a new version with these changes, and make it active.

        `changes`: an AgentUpdate, or its fields as keywords.
        """
        return await self._transport.call(
            Agent, "PATCH", path_of("/v1/agents/{}", agent_id), body=changes.body()
        )

    async def delete(self, agent_id: str) -> None:
        """Remove an agent with all its versions."""
        await self._transport.send("DELETE", path_of("/v1/agents/{}", agent_id))

    async def switch(self, agent_id: str, version: int) -> Agent:
        """Make an existing version the active one."""
        return await self._transport.call(
            Agent,
            "PATCH",
            path_of("/v1/agents/{}/version", agent_id),
            query=VersionSwitch(version=version),
        )

    async def versions(
        self, agent_id: str, *, page: int = 0, page_size: int = 20
    ) -> builtins.list[Agent]:
        """Return a page of an agent's versions; pages count from 0."""
        return await self._transport.call(
            list[Agent],
            "GET",
            path_of("/v1/agents/{}/versions", agent_id),
            query=VersionsQuery(page=page, page_size=page_size),
        )

    def every_version(self, agent_id: str) -> AsyncIterator[Agent]:
        """Return all versions of an agent, page after page."""

        async def page(number: int) -> builtins.list[Agent]:
            return await self.versions(agent_id, page=number, page_size=PAGE)

        return every(page, lambda agent: agent.version)

    async def version(self, agent_id: str, version: int) -> Agent:
        """Return an agent as one version has it."""
        return await self._transport.call(
            Agent, "GET", path_of("/v1/agents/{}/versions/{}", agent_id, version)
        )

    async def aliases(self, agent_id: str) -> builtins.list[AgentAlias]:
        """Return the names that point at versions of an agent."""
        return await self._transport.call(
            list[AgentAlias], "GET", path_of("/v1/agents/{}/aliases", agent_id)
        )

    async def set_alias(self, agent_id: str, alias: str, version: int) -> AgentAlias:
        """Point a name at a version, away from the one it pointed at."""
        return await self._transport.call(
            AgentAlias,
            "PUT",
            path_of("/v1/agents/{}/aliases", agent_id),
            query=AliasRequest(alias=alias, version=version),
        )

    async def delete_alias(self, agent_id: str, alias: str) -> None:
        """Remove a name; the version it points at stays."""
        await self._transport.send(
            "DELETE", path_of("/v1/agents/{}/aliases", agent_id), query={"alias": alias}
        )
