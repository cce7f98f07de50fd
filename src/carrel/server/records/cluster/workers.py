"""Heartbeats of the processes that take jobs from a shared database, by its clock."""

from collections.abc import Collection
from datetime import timedelta

import sqlalchemy as sa

from carrel.server.records.sql.tables import workers


def beat(connection: sa.Connection, name: str) -> None:
    """Write a heartbeat."""
    now = connection.scalar(sa.select(sa.func.now()))
    seen = workers.update().where(workers.c.name == name).values(seen_at=now)
    if connection.execute(seen).rowcount == 0:
        connection.execute(workers.insert().values(name=name, seen_at=now))


def count_alive(connection: sa.Connection, seconds: float) -> int:
    """Return the number of processes with a heartbeat in the last `seconds`."""
    query = sa.select(sa.func.count()).where(sa.not_(_silent(connection, seconds)))
    return connection.scalar(query.select_from(workers)) or 0


def list_silent(connection: sa.Connection, seconds: float) -> list[str]:
    """Return the processes without a heartbeat for `seconds`."""
    return list(connection.scalars(sa.select(workers.c.name).where(_silent(connection, seconds))))


def forget(connection: sa.Connection, names: Collection[str], seconds: float) -> None:
    """Remove the given processes, unless they have reported since."""
    gone = workers.delete().where(workers.c.name.in_(names), _silent(connection, seconds))
    connection.execute(gone)


def _silent(connection: sa.Connection, seconds: float) -> sa.ColumnElement[bool]:
    now = connection.scalar(sa.select(sa.func.now()))
    assert now is not None
    quiet: sa.ColumnElement[bool] = workers.c.seen_at < now - timedelta(seconds=seconds)
    return quiet
