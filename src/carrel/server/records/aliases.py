"""Aliases: names that point at a version of an agent and can be moved to another."""

from datetime import UTC, datetime

import sqlalchemy as sa

from carrel.server.records import agents
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.tables import agent_aliases
from carrel.wire.generation.agents import AgentAlias, AliasRequest


def put(
    connection: sa.Connection, caller: Caller, agent_id: str, request: AliasRequest
) -> AgentAlias:
    """Create an alias of a version, or move an existing one to it.

    Raises:
        NotFound, when there is no such agent or version.
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
    """Return an agent's aliases, by name.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    agents.get(connection, caller, agent_id)
    rows = connection.execute(
        sa.select(agent_aliases)
        .where(agent_aliases.c.agent_id == agent_id)
        .order_by(agent_aliases.c.alias)
    )
    return [AgentAlias.model_validate(row._asdict()) for row in rows]


def delete(connection: sa.Connection, caller: Caller, agent_id: str, alias: str) -> None:
    """Remove an alias; the version stays.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    agents.get(connection, caller, agent_id)
    gone = connection.execute(agent_aliases.delete().where(_is(agent_id, alias)))
    if gone.rowcount == 0:
        raise NotFound.of("alias", alias)


def _is(agent_id: str, alias: str) -> sa.ColumnElement[bool]:
    return sa.and_(agent_aliases.c.agent_id == agent_id, agent_aliases.c.alias == alias)
