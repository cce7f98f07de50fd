"""Aliases: names that point at a version of an agent and can be moved to another."""

from datetime import UTC, datetime

import sqlalchemy as sa

from carrel.server.errors import not_found
from carrel.server.records import agents
from carrel.server.records.caller import Caller
from carrel.server.records.tables import agent_aliases
from carrel.wire.agents import AgentAlias, AliasRequest


def put(
    connection: sa.Connection, caller: Caller, agent_id: str, request: AliasRequest
) -> AgentAlias:
    """Creates an alias of a version, or moves an existing one to it.

    Raises:
        ApiError: 404, when there is no such agent or version.
    """
    agents.get(connection, caller, agent_id, request.version)
    now = datetime.now(UTC)
    moved = connection.execute(
        agent_aliases.update()
        .where(_is(agent_id, request.alias))
        .values(version=request.version, updated_at=now)
    )
    if moved.rowcount == 0:
        connection.execute(
            agent_aliases.insert().values(
                agent_id=agent_id,
                alias=request.alias,
                version=request.version,
                created_at=now,
                updated_at=now,
            )
        )
    row = connection.execute(sa.select(agent_aliases).where(_is(agent_id, request.alias))).one()
    return AgentAlias.model_validate(row._asdict())


def of_agent(connection: sa.Connection, caller: Caller, agent_id: str) -> list[AgentAlias]:
    """An agent's aliases, by name.

    Raises:
        ApiError: 404.
    """
    agents.get(connection, caller, agent_id)
    rows = connection.execute(
        sa.select(agent_aliases)
        .where(agent_aliases.c.agent_id == agent_id)
        .order_by(agent_aliases.c.alias)
    )
    return [AgentAlias.model_validate(row._asdict()) for row in rows]


def delete(connection: sa.Connection, caller: Caller, agent_id: str, alias: str) -> None:
    """Removes an alias; the version stays.

    Raises:
        ApiError: 404.
    """
    agents.get(connection, caller, agent_id)
    gone = connection.execute(agent_aliases.delete().where(_is(agent_id, alias)))
    if gone.rowcount == 0:
        raise not_found("alias", alias)


def _is(agent_id: str, alias: str) -> sa.ColumnElement[bool]:
    return sa.and_(agent_aliases.c.agent_id == agent_id, agent_aliases.c.alias == alias)
