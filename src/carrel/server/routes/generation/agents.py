"""Agents (beta): versions, the active one, aliases."""

import base64
import binascii
from datetime import timedelta
from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Query, Request, Response

from carrel.server.errors import InvalidRequest
from carrel.server.http.preferences import prefers_existing
from carrel.server.records import agents
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.agents import Position
from carrel.server.records.sql.tables import EPOCH
from carrel.server.routes.dependencies import Context, InQuery, validate
from carrel.wire.generation.agents import (
    Agent,
    AgentAlias,
    AgentCreate,
    AgentPage,
    AgentPageQuery,
    AgentQuery,
    AgentUpdate,
    Alias,
    AliasRequest,
    VersionsQuery,
    VersionSwitch,
)

router = APIRouter(prefix="/v1/agents")


def _token(agent: Agent) -> str:
    microseconds = (agent.created_at - EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{microseconds}:{agent.id}".encode()).decode()


def _position(token: str) -> Position:
    try:
        microseconds, id = base64.urlsafe_b64decode(token).decode().split(":")
        return Position(EPOCH + timedelta(microseconds=int(microseconds)), id)
    except (binascii.Error, ValueError, OverflowError):
        raise InvalidRequest(("query", "page_token"), "This token is not one of a page.") from None


async def _switch(request: Request) -> VersionSwitch:
    """Return the version to switch to, from the query or else from the body."""
    given = request.query_params.get("version")
    if given is not None:
        return validate(VersionSwitch, {"version": given}, "query")
    try:
        body = await request.json()
    except ValueError:
        body = {}
    return validate(VersionSwitch, body, "body")


@router.get("")
async def list_agents(context: Context, query: InQuery[AgentQuery]) -> list[Agent]:
    return await context.read(
        agents.select, query, limit=query.page_size, offset=query.page * query.page_size
    )


@router.post("")
async def create_agent(request: Request, context: Context, body: AgentCreate) -> Agent:
    """Add an agent; with `Prefer: if-absent`, answer with the caller's own of that name."""

    def write(connection: sa.Connection, caller: Caller) -> Agent:
        present = agents.find_owned(connection, caller, body.name) if if_absent else None
        return present or agents.create(connection, caller, body)

    if_absent = prefers_existing(request)
    return await context.write(write)


@router.get("/pages")
async def list_agent_pages(context: Context, query: InQuery[AgentPageQuery]) -> AgentPage:
    after = _position(query.page_token) if query.page_token else None
    # One more than requested, to see whether there is a next page.
    found = await context.read(agents.select, query, limit=query.page_size + 1, after=after)
    data = found[: query.page_size]
    return AgentPage(
        data=data, next_page_token=_token(data[-1]) if len(found) > len(data) else None
    )


@router.get("/{agent_id}")
async def get_agent(agent_id: str, context: Context, agent_version: str | None = None) -> Agent:
    return await context.read(agents.get, agent_id, agent_version or None)


@router.patch("/{agent_id}")
async def update_agent(agent_id: str, context: Context, body: AgentUpdate) -> Agent:
    return await context.write(agents.update, agent_id, body)


@router.delete("/{agent_id}", status_code=204, response_class=Response)
async def delete_agent(agent_id: str, context: Context) -> None:
    await context.write(agents.delete, agent_id, trash_days=context.trash_days)


_IN_QUERY_OR_BODY = {
    "parameters": [{"name": "version", "in": "query", "schema": {"type": "integer", "minimum": 0}}],
    "requestBody": {"content": {"application/json": {"schema": VersionSwitch.model_json_schema()}}},
}


@router.patch("/{agent_id}/version", openapi_extra=_IN_QUERY_OR_BODY)
async def switch_version(
    agent_id: str, context: Context, version: Annotated[VersionSwitch, Depends(_switch)]
) -> Agent:
    return await context.write(agents.switch, agent_id, version.version)


@router.get("/{agent_id}/versions")
async def list_versions(
    agent_id: str, context: Context, query: InQuery[VersionsQuery]
) -> list[Agent]:
    return await context.read(agents.versions, agent_id, query)


@router.get("/{agent_id}/versions/{version}")
async def get_version(agent_id: str, version: str, context: Context) -> Agent:
    return await context.read(agents.get, agent_id, version)


@router.put("/{agent_id}/aliases")
async def put_alias(agent_id: str, context: Context, query: InQuery[AliasRequest]) -> AgentAlias:
    return await context.write(agents.put_alias, agent_id, query)


@router.get("/{agent_id}/aliases")
async def list_aliases(agent_id: str, context: Context) -> list[AgentAlias]:
    return await context.read(agents.aliases_of, agent_id)


@router.delete("/{agent_id}/aliases", status_code=204, response_class=Response)
async def delete_alias(agent_id: str, alias: Annotated[Alias, Query()], context: Context) -> None:
    await context.write(agents.delete_alias, agent_id, alias)
