"""The records in SQLite or PostgreSQL, the workers that share them, and their API keys."""

import asyncio
import sqlite3
import time
from contextlib import closing

import sqlalchemy as sa

from carrel.server.admin.doctor.findings import Finding, clock_of, failure, ok, warning
from carrel.server.datadir.folder import FORMAT, FolderLayout
from carrel.server.housekeeping.heartbeat import SILENT_SECONDS
from carrel.server.records.cluster import shared, workers
from carrel.server.records.processing import UNFINISHED
from carrel.server.records.sql import sqlite
from carrel.server.records.sql.migrate import revision
from carrel.server.records.sql.tables import api_keys, documents
from carrel.server.settings import ServerSettings

_MOST_CONNECTIONS = 17
"""Connections of one process."""

_FACTS = sa.text(
    "SELECT current_setting('server_version') AS version,"
    " extract(epoch FROM clock_timestamp())::float AS now,"
    " to_regclass('dbos.workflow_status') IS NOT NULL AS queues,"
    " EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector') AS vector,"
    " current_setting('max_connections')::int AS most,"
    " current_setting('superuser_reserved_connections')::int AS reserved,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used"
)

_FORBIDDEN = sa.text(
    "SELECT relname FROM pg_class WHERE relkind = 'r'"
    " AND relnamespace::regnamespace::text IN (current_schema(), 'dbos')"
    " AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')"
    " AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))"
    " ORDER BY relname"
)


async def check_records(settings: ServerSettings) -> list[Finding]:
    """Check that the records are whole and of this version; of a database also its workers."""
    if settings.database is not None:
        return await asyncio.to_thread(_postgresql, settings.database)
    return await asyncio.to_thread(_sqlite, FolderLayout(settings.data))


def _sqlite(folder: FolderLayout) -> list[Finding]:
    part = "records"
    if not folder.database_file.exists():
        return [ok(part, "none yet")]
    try:
        with closing(sqlite.connect_read_only(folder.database_file)) as connection:
            [[checked]] = connection.execute("PRAGMA quick_check(1)").fetchall()
            wrong = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.Error as error:
        checked, wrong = str(error), None
    if checked != "ok" or wrong:
        said = f"{folder.database_file} is damaged: {checked if checked != 'ok' else 'lost rows'}"
        return [failure(part, said, "Stop the server and restore a backup: carrel restore.")]
    if folder.format != FORMAT:
        said = f"format {folder.format}; this version has {FORMAT}"
        return [warning(part, said, "The server's next start migrates it, after a copy.")]
    size = folder.database_file.stat().st_size
    return [ok(part, f"SQLite {sqlite3.sqlite_version}, whole, {size / 1e6:,.1f} MB")]


def _postgresql(url: str) -> list[Finding]:
    part = "database"
    migrate = "Run: carrel migrate --database URL"
    try:
        with shared.open_engine(url) as engine:
            with engine.connect() as connection:
                before = time.time()
                row = connection.execute(_FACTS).one()
                skew = row.now - (before + time.time()) / 2
                shared.require_suitable(connection)
                present = revision(connection)
                if present > FORMAT:
                    said = f"schema {present}; this version knows schemas up to {FORMAT}"
                    return [failure(part, said, "Install a newer Carrel.")]
                if present < FORMAT:
                    return [
                        failure(part, f"schema {present}; this version needs {FORMAT}", migrate)
                    ]
                if not row.queues:
                    return [failure(part, "the tables of the queues are missing", migrate)]
                if forbidden := connection.scalars(_FORBIDDEN).all():
                    said = f"the user may not change {', '.join(forbidden[:5])}"
                    return [failure(part, said, shared.RIGHTS)]
                vectors = "pgvector is there" if row.vector else "no pgvector, which is optional"
                found = [ok(part, f"PostgreSQL {row.version}, schema {present}, {vectors}")]
                found += _connections(row.most - row.reserved, row.used)
                found.append(clock_of("the database", skew))
                found += _workers(connection)
            return found
    except shared.MissingRights as error:
        return [failure(part, str(error), shared.RIGHTS)]
    except shared.SharedDatabaseError as error:
        advice = "Check that it runs, the address, and PGPASSWORD or ~/.pgpass."
        return [failure(part, str(error), advice)]


def _connections(most: int, used: int) -> list[Finding]:
    said = f"{used} of {most} connections are used"
    if most - used < _MOST_CONNECTIONS:
        advice = f"A process opens up to {_MOST_CONNECTIONS}: raise max_connections."
        return [warning("connections", said, advice)]
    return [ok("connections", said)]


def _workers(connection: sa.Connection) -> list[Finding]:
    alive = workers.count_alive(connection, SILENT_SECONDS)
    waiting = documents.c.process_status.in_(UNFINISHED)
    unfinished = connection.scalar(sa.select(sa.func.count()).where(waiting)) or 0
    said = f"{alive} processes take jobs, {unfinished} documents are unfinished"
    if alive == 0 and unfinished:
        return [failure("workers", said, "Start one: carrel worker, or carrel serve.")]
    if alive == 0:
        return [warning("workers", said, "Start one before documents come: carrel worker.")]
    return [ok("workers", said)]


async def check_keys(settings: ServerSettings) -> list[Finding]:
    """Check how many API keys are in force, and whether their pepper is there."""
    folder = FolderLayout(settings.data)
    if settings.database is None and not folder.database_file.exists():
        return []
    try:
        count = await asyncio.to_thread(_count_keys, settings, folder)
    except (sa.exc.SQLAlchemyError, shared.SharedDatabaseError):
        return []  # said of the records
    if settings.database is None and not (folder.path / "secret").exists():
        advice = "Restore it from a backup; without it every key is refused."
        return [failure("keys", f"{folder.path / 'secret'} is missing", advice)]
    return [ok("keys", f"{count} in force")]


def _count_keys(settings: ServerSettings, folder: FolderLayout) -> int:
    query = sa.select(sa.func.count()).where(api_keys.c.revoked_at.is_(None))
    if settings.database is not None:
        with shared.open_engine(settings.database) as engine, engine.connect() as connection:
            return connection.scalar(query) or 0
    with sqlite.read_only_engine(folder.database_file).connect() as connection:
        return connection.scalar(query) or 0
