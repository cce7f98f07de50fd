"""The tables of the job queues, which DBOS makes and migrates itself."""

import sqlalchemy as sa

_SCHEMA = "dbos"
_FINISHED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


def make_tables(engine: sa.Engine) -> None:
    """Make or migrate the tables of the queues; a queue on SQLite does so itself."""
    from dbos import DBOS

    DBOS.migrate(address_of(engine), schema=_SCHEMA)


def address_of(engine: sa.Engine) -> str:
    """Return the database's address as DBOS and psycopg take it, with its password."""
    url = engine.url
    if engine.dialect.name == "postgresql":
        url = url.set(drivername="postgresql")
    return url.render_as_string(hide_password=False)


def table_of(connection: sa.Connection, name: str, *columns: str) -> sa.TableClause:
    """Return some columns of a table of the queues, for a query."""
    schema = None if connection.dialect.name == "sqlite" else _SCHEMA
    return sa.table(name, *map(sa.column, columns), schema=schema)


def forget_ended(connection: sa.Connection) -> None:
    """Remove the records of ended jobs, which contain ids of their rows."""
    jobs = table_of(connection, "workflow_status", "workflow_uuid", "status")
    ended = jobs.c.status.in_(_FINISHED)
    ids = sa.select(jobs.c.workflow_uuid).where(ended)
    for name in ("operation_outputs", "workflow_input", "workflow_output"):
        parts = table_of(connection, name, "workflow_uuid")
        connection.execute(parts.delete().where(parts.c.workflow_uuid.in_(ids)))
    connection.execute(jobs.delete().where(ended))
