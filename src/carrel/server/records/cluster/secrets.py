"""The secrets that servers of one database have in common."""

from collections.abc import Mapping

import sqlalchemy as sa

from carrel.server.records.sql.database import take_turns
from carrel.server.records.sql.tables import secrets


def agree(connection: sa.Connection, own: Mapping[str, str]) -> dict[str, str]:
    """Return the shared secrets of some names. The first server to ask sets them from its own."""
    take_turns(connection, "secrets")
    kept = get(connection)
    new = [{"name": name, "value": own[name]} for name in own if name not in kept]
    if new:
        connection.execute(secrets.insert(), new)
    return {name: kept.get(name, value) for name, value in own.items()}


def get(connection: sa.Connection) -> dict[str, str]:
    """Return all secrets, by their names."""
    return {row.name: row.value for row in connection.execute(sa.select(secrets))}


def put(connection: sa.Connection, values: Mapping[str, str]) -> None:
    """Replace all secrets."""
    connection.execute(secrets.delete())
    connection.execute(secrets.insert(), [{"name": n, "value": v} for n, v in values.items()])
