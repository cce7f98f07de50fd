"""Agents: immutable numbered versions, and a pointer to the active one."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from carrel.server.records import libraries, trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import InvalidField, NotFound
from carrel.server.records.sql.conditions import comes_after, contains, find
from carrel.server.records.sql.database import take_turns
from carrel.server.records.sql.tables import agent_aliases, agent_versions, agents
from carrel.wire.generation.agents import (
    Agent,
    AgentAlias,
    AgentCreate,
    AgentFilter,
    AgentUpdate,
    AliasRequest,
    CompletionArgs,
    VersionsQuery,
)
from carrel.wire.generation.tools import LibraryTool, Tool

_NO_ARGUMENTS = CompletionArgs().model_dump(mode="json")

# Labels distinguish columns that have the same name in both tables.
_COLUMNS = (
    *agents.c,
    agent_versions.c.number,
    agent_versions.c.name,
    agent_versions.c.model,
    agent_versions.c.settings,
    agent_versions.c.message,
    agent_versions.c.created_at.label("version_created_at"),
)
_VERSION = agent_versions.c.agent_id == agents.c.id
_ACTIVE = sa.and_(_VERSION, agent_versions.c.number == agents.c.active_version)


class Position(NamedTuple):
    """An agent's position in the list, newest first."""

    created_at: datetime
    id: str


def create(connection: sa.Connection, caller: Caller, request: AgentCreate) -> Agent:
    """Add an agent with its version 0.

    Raises:
        InvalidField: it names an agent or a library that does not exist.
    """
    _check_handoffs(connection, caller, request.handoffs)
    _check_libraries(connection, caller, request.tools)
    now = datetime.now(UTC)
    id = f"ag_{secrets.token_hex(16)}"
    connection.execute(
        agents.insert().values(
            id=id,
            organisation_id=caller.organisation_id,
            owner_id=caller.user_id,
            active_version=0,
            deployment_chat=False,
            source="api",
            created_at=now,
            updated_at=now,
        )
    )
    settings = {**request.body(), "deployment_chat": False}
    name, model = settings.pop("name"), settings.pop("model")
    _add_version(connection, id, 0, name, model, settings, now)
    return get(connection, caller, id)


def find_owned(connection: sa.Connection, caller: Caller, name: str) -> Agent | None:
    """Return the caller's oldest agent of a name.

    Transactions that ask for the same wait for one another.
    """
    take_turns(connection, f"agents of {caller.user_id}")
    query = (
        sa.select(agents.c.id)
        .join(agent_versions, _ACTIVE)
        .where(
            agents.c.organisation_id == caller.organisation_id,
            agents.c.owner_id == caller.user_id,
            agent_versions.c.name == name,
        )
        .order_by(agents.c.created_at, agents.c.id)
    )
    id = connection.scalar(query.limit(1))
    return None if id is None else get(connection, caller, id)


def get(
    connection: sa.Connection, caller: Caller, id: str, version: str | int | None = None
) -> Agent:
    """Return an agent in its active version, or in that of a number or an alias.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    row = _find(connection, caller, id)
    if version is not None:
        row = _find(connection, caller, id, _number(connection, id, version))
    return _agents(connection, [row])[0]


def update(connection: sa.Connection, caller: Caller, id: str, request: AgentUpdate) -> Agent:
    """Add a version that differs from the active one as asked, and make it the active one.

    Raises:
        NotFound: it does not exist, or is hidden.
        InvalidField: it names an agent or a library that does not exist.
    """
    take_turns(connection, f"agent {id}")
    row = _find(connection, caller, id)
    _check_handoffs(connection, caller, request.handoffs)
    _check_libraries(connection, caller, request.tools)
    now = datetime.now(UTC)
    last = sa.select(sa.func.max(agent_versions.c.number)).where(agent_versions.c.agent_id == id)
    number = connection.scalars(last).one() + 1
    changes = request.body()
    name, model = changes.pop("name", row.name), changes.pop("model", row.model)
    settings = {"deployment_chat": row.deployment_chat, **row.settings, **changes}
    _add_version(connection, id, number, name, model, settings, now)
    _point(connection, id, number, now, settings["deployment_chat"])
    return get(connection, caller, id)


def switch(connection: sa.Connection, caller: Caller, id: str, version: int) -> Agent:
    """Make another version the active one.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    take_turns(connection, f"agent {id}")
    row = _find(connection, caller, id, version)
    deployed = row.settings.get("deployment_chat", row.deployment_chat)
    _point(connection, id, version, datetime.now(UTC), deployed)
    return get(connection, caller, id)


def delete(connection: sa.Connection, caller: Caller, id: str, trash_days: int) -> None:
    """Move an agent with its versions and aliases to the trash.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    name = _find(connection, caller, id).name
    trash.delete(connection, caller, "agent", id, name, days=trash_days)


def versions(
    connection: sa.Connection, caller: Caller, id: str, query: VersionsQuery
) -> list[Agent]:
    """Return a page of an agent's versions, newest first.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    _find(connection, caller, id)
    rows = connection.execute(
        sa.select(*_COLUMNS)
        .join(agent_versions, _VERSION)
        .where(agents.c.id == id)
        .order_by(agent_versions.c.number.desc())
        .limit(query.page_size)
        .offset(query.page * query.page_size)
    )
    return _agents(connection, rows.all())


def select(
    connection: sa.Connection,
    caller: Caller,
    wanted: AgentFilter,
    *,
    limit: int,
    offset: int = 0,
    after: Position | None = None,
) -> list[Agent]:
    """Return the agents of the caller's organisation, newest first, after any position given."""
    query = (
        sa.select(*_COLUMNS)
        .join(agent_versions, _ACTIVE)
        .where(agents.c.organisation_id == caller.organisation_id, *_filters(wanted))
        .order_by(agents.c.created_at.desc(), agents.c.id.desc())
    )
    if after is not None:
        query = query.where(comes_after(agents, after))
    if not wanted.metadata:
        return _agents(connection, connection.execute(query.limit(limit).offset(offset)).all())
    # Compared in Python: metadata values have any shape, and databases compare JSON differently.
    expected = wanted.metadata.items()
    rows = [
        row
        for row in connection.execute(query)
        if expected <= (row.settings.get("metadata") or {}).items()
    ]
    return _agents(connection, rows[offset : offset + limit])


def _filters(wanted: AgentFilter) -> list[sa.ColumnElement[bool]]:
    filters: list[sa.ColumnElement[bool]] = []
    if wanted.deployment_chat is not None:
        filters.append(agents.c.deployment_chat == wanted.deployment_chat)
    if wanted.sources:
        filters.append(agents.c.source.in_(wanted.sources))
    if wanted.name:
        filters.append(agent_versions.c.name == wanted.name)
    if wanted.id:
        filters.append(agents.c.id == wanted.id)
    if wanted.search:
        filters.append(
            sa.or_(
                contains(agent_versions.c.name, wanted.search), contains(agents.c.id, wanted.search)
            )
        )
    return filters


def _find(
    connection: sa.Connection, caller: Caller, id: str, version: int | None = None
) -> sa.Row[Any]:
    """Return the joined row of an agent and one of its versions.

    The active one without a number.
    """
    on = _ACTIVE if version is None else sa.and_(_VERSION, agent_versions.c.number == version)
    query = (
        sa.select(*_COLUMNS)
        .join(agent_versions, on)
        .where(agents.c.id == id, agents.c.organisation_id == caller.organisation_id)
    )
    kind = "agent" if version is None else f"version {version} of the agent"
    return find(connection, query, kind, id)


def _check_libraries(
    connection: sa.Connection, caller: Caller, tools: Sequence[Tool] | None
) -> None:
    for number, tool in enumerate(tools or ()):
        if isinstance(tool, LibraryTool):
            for id in libraries.find_missing(connection, caller, tool.library_ids):
                place = ("body", "tools", number, "library_ids", tool.library_ids.index(id))
                raise InvalidField(place, f"There is no library {id[:80]!r}.")


def _check_handoffs(
    connection: sa.Connection, caller: Caller, handoffs: Sequence[str] | None
) -> None:
    query = sa.select(agents.c.id).where(
        agents.c.id.in_(handoffs or ()), agents.c.organisation_id == caller.organisation_id
    )
    known = set(connection.scalars(query))
    for number, id in enumerate(handoffs or ()):
        if id not in known:
            raise InvalidField(("body", "handoffs", number), f"There is no agent {id[:80]!r}.")


def _number(connection: sa.Connection, id: str, version: str | int) -> int:
    text = str(version)
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    query = sa.select(agent_aliases.c.version).where(
        agent_aliases.c.agent_id == id, agent_aliases.c.alias == text
    )
    number: int | None = connection.scalar(query)
    if number is None:
        raise NotFound.of("version or alias", text)
    return number


def _add_version(
    connection: sa.Connection,
    id: str,
    number: int,
    name: str,
    model: str,
    settings: dict[str, Any],
    now: datetime,
) -> None:
    message = settings.pop("version_message", None)
    connection.execute(
        agent_versions.insert().values(
            agent_id=id,
            number=number,
            name=name,
            model=model,
            settings=settings,
            message=message,
            created_at=now,
        )
    )


def _point(
    connection: sa.Connection, id: str, version: int, now: datetime, deployment_chat: bool
) -> None:
    # The agent has a copy of the active version's, to be listed by.
    connection.execute(
        agents.update()
        .where(agents.c.id == id)
        .values(active_version=version, updated_at=now, deployment_chat=deployment_chat)
    )


def _agents(connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> list[Agent]:
    numbers = _version_numbers(connection, {row.id for row in rows})
    return [_agent(row, numbers[row.id]) for row in rows]


def _version_numbers(connection: sa.Connection, ids: Collection[str]) -> dict[str, list[int]]:
    query = (
        sa.select(agent_versions.c.agent_id, agent_versions.c.number)
        .where(agent_versions.c.agent_id.in_(ids))
        .order_by(agent_versions.c.number)
    )
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in connection.execute(query):
        numbers[row.agent_id].append(row.number)
    return numbers


def _agent(row: sa.Row[Any], numbers: list[int]) -> Agent:
    is_active = row.number == row.active_version
    further = {
        "completion_args": {**_NO_ARGUMENTS, **(row.settings.get("completion_args") or {})},
        "version": row.number,
        "versions": numbers,
        "version_message": row.message,
        "updated_at": row.updated_at if is_active else row.version_created_at,
    }
    return Agent(**{**row._asdict(), **row.settings, **further})


def put_alias(
    connection: sa.Connection, caller: Caller, agent_id: str, request: AliasRequest
) -> AgentAlias:
    """Create an alias of a version, or move an existing one to it.

    Raises:
        NotFound, when there is no such agent or version.
    """
    get(connection, caller, agent_id, request.version)
    now = datetime.now(UTC)
    moved = connection.execute(
        agent_aliases.update()
        .where(_is_alias(agent_id, request.alias))
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
    row = connection.execute(
        sa.select(agent_aliases).where(_is_alias(agent_id, request.alias))
    ).one()
    return AgentAlias.model_validate(row._asdict())


def aliases_of(connection: sa.Connection, caller: Caller, agent_id: str) -> list[AgentAlias]:
    """Return an agent's aliases, by name.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    get(connection, caller, agent_id)
    rows = connection.execute(
        sa.select(agent_aliases)
        .where(agent_aliases.c.agent_id == agent_id)
        .order_by(agent_aliases.c.alias)
    )
    return [AgentAlias.model_validate(row._asdict()) for row in rows]


def delete_alias(connection: sa.Connection, caller: Caller, agent_id: str, alias: str) -> None:
    """Remove an alias; the version stays.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    get(connection, caller, agent_id)
    gone = connection.execute(agent_aliases.delete().where(_is_alias(agent_id, alias)))
    if gone.rowcount == 0:
        raise NotFound.of("alias", alias)


def _is_alias(agent_id: str, alias: str) -> sa.ColumnElement[bool]:
    return sa.and_(agent_aliases.c.agent_id == agent_id, agent_aliases.c.alias == alias)
