"""A database that several servers share: its tables, their secrets, and jobs of the dead."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from carrel.server.admin.keys import KeyChain
from carrel.server.datadir.folder import FORMAT, DataFolder
from carrel.server.housekeeping import heartbeat
from carrel.server.records import agents
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.cluster import shared
from carrel.server.records.cluster.shared import SharedDatabaseError
from carrel.server.records.sql import tables
from carrel.server.records.sql.database import Database, make_engine
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from support import storage
from support.libraries import connect
from support.postgres import postgres_server
from support.process import serve
from support.processing import Lab, ScriptedReader

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def empty() -> str:
    """The address of a database without tables."""
    return postgres_server().create(uuid4().hex)


@pytest.fixture
def migrated() -> str:
    """The address of a database with empty tables."""
    return postgres_server().migrated(uuid4().hex)


@pytest.fixture
def carrel(tmp_path: Path) -> Run:
    """Runs a command to its end."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "carrel", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def connection(migrated: str) -> Iterator[sa.Connection]:
    engine = make_engine(migrated)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_the_migrated_tables_are_the_declared_ones(connection: sa.Connection) -> None:
    made_by_sql = {"ix_chunks_search", "ix_words_runs", "search"}

    def ours(object: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
        return name not in made_by_sql and name != "alembic_version"

    context = MigrationContext.configure(
        connection, opts={"include_object": ours, "compare_type": False}
    )
    assert compare_metadata(context, tables.metadata) == []


def test_migrations_that_meet_run_one_after_another(empty: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        before = [done.before for done in pool.map(shared.migrate, [empty] * 3)]
    assert sorted(before) == [0, FORMAT, FORMAT]


def test_the_command_says_what_it_did(empty: str, carrel: Run) -> None:
    first, second = (carrel("migrate", "--database", empty) for _ in range(2))
    without = "There is no pgvector here: servers compare vectors in memory."
    assert first.stderr == f"Migrated the database from schema 0 to {FORMAT}.\n{without}\n"
    assert second.stderr == f"The database has the schema {FORMAT} already.\n{without}\n"


def test_a_server_does_not_start_on_other_tables(
    empty: str, migrated: str, carrel: Run, tmp_path: Path
) -> None:
    def refused(database: str, *more: str) -> str:
        options = ("--data", str(tmp_path / "data"), "--database", database, *more)
        ended = carrel("serve", *options)
        assert ended.returncode == 1
        assert ended.stdout == ""
        return ended.stderr

    blobs = ("--blobs", "s3://bucket/prefix")
    assert "Add --blobs" in refused(migrated)
    assert "has no tables yet" in refused(empty, *blobs)
    assert "carrel migrate" in refused(empty, *blobs)
    engine = make_engine(migrated)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0999'"))
    engine.dispose()
    assert "Install a newer Carrel" in refused(migrated, *blobs)
    secret = "postgresql://carrel:hunter2@127.0.0.1:1/carrel"
    assert "cannot be used: connection failed" in (message := refused(secret, *blobs))
    assert "hunter2" not in message
    assert "such as postgresql://" in refused("mysql://carrel:hunter2@host/name", *blobs)


def test_a_database_that_goes_away_is_said_and_used_again_when_it_is_back(
    migrated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "SHARED", True)
    for name, value in storage.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(storage, "SHARED", False)
    database_name = sa.make_url(migrated).database

    def database(*statements: str) -> None:
        engine = make_engine(postgres_server().url("postgres"))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for statement in statements:
                connection.execute(sa.text(statement))
        engine.dispose()

    options = ("--database", migrated, "--blobs", f"s3://tests/{uuid4().hex}")
    with serve(tmp_path / "data", *options) as server, connect(server) as http:
        assert http.get("/v1/files").status_code == 200
        database(
            f'ALTER DATABASE "{database_name}" ALLOW_CONNECTIONS false',
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{database_name}'",
        )
        away = http.get("/v1/files")
        assert away.status_code == 503
        assert away.json()["message"] == "The server's database does not answer. Try again soon."
        database(f'ALTER DATABASE "{database_name}" ALLOW_CONNECTIONS true')
        assert http.get("/v1/files").status_code == 200


def test_a_database_without_letters_is_refused() -> None:
    name = uuid4().hex
    engine = make_engine(postgres_server().url("postgres"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        latin = f"CREATE DATABASE \"{name}\" TEMPLATE template0 LOCALE 'C'"
        connection.execute(sa.text(latin))
    engine.dispose()
    with pytest.raises(SharedDatabaseError, match="createdb"):
        shared.migrate(postgres_server().url(name))


def test_servers_have_their_secrets_in_common(migrated: str, tmp_path: Path) -> None:
    key = KeyChain(tmp_path / "none", migrated).add("anna", "team", "anna")[0]
    with DataFolder(tmp_path / "one") as one, DataFolder(tmp_path / "two") as two:
        assert one.secret != two.secret
        for folder in (one, two, one):
            shared.join(folder, migrated)
        assert one.secret == two.secret == shared.common_secret(migrated)
        assert one.api_key == two.api_key
        assert one.name != two.name
    assert [found.id for found in KeyChain(tmp_path / "none", migrated).list_all()] == [key.id]


async def test_writes_that_overtake_each_other_lose_nothing(migrated: str) -> None:
    first, second = Database(migrated), Database(migrated)
    try:
        await first.write(_add_organisation)
        caller = Caller("o", "u")
        new = AgentCreate(model="m", name="clerk")
        agent = await first.write(partial(agents.create, caller=caller, request=new))
        change = [
            partial(agents.update, caller=caller, id=agent.id, request=AgentUpdate(name=f"{n}"))
            for n in range(40)
        ]
        made = await asyncio.gather(
            *(
                database.write(work)
                for work, database in zip(change, [first, second] * 20, strict=True)
            )
        )
        assert sorted(each.version for each in made) == list(range(1, 41))
        now = await second.read(partial(agents.get, caller=caller, id=agent.id))
        assert now.versions == list(range(41))
        assert now.version == 40
    finally:
        first.close()
        second.close()


def _add_organisation(connection: sa.Connection) -> None:
    connection.execute(sa.text("INSERT INTO organisations VALUES ('o', 'o', 1)"))
    connection.execute(sa.text("INSERT INTO users VALUES ('u', 'o', 'u', 1)"))


async def test_one_server_at_a_time_is_alone(migrated: str) -> None:
    first, second = Database(migrated), Database(migrated)
    try:
        async with first.lock_if_free("clean") as one, second.lock_if_free("clean") as other:
            assert (one, other) == (True, False)
            async with second.lock_if_free("dust") as another:
                assert another
        async with second.lock_if_free("clean") as later:
            assert later
    finally:
        first.close()
        second.close()


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DataFolder]:
    """A folder whose records are in PostgreSQL."""
    monkeypatch.setattr(storage, "SHARED", True)
    with DataFolder(tmp_path / "data") as folder:
        await asyncio.to_thread(storage.prepare, folder)
        yield folder


async def test_the_jobs_of_a_dead_worker_are_taken_over(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = Lab(folder, ScriptedReader(), executor="dying")
    stuck = asyncio.Event()

    async def never() -> str:
        stuck.set()
        await asyncio.Event().wait()
        return ""

    dying.reader.script = never
    await dying.open()
    await heartbeat.Heartbeat(dying.database, dying.jobs).beat()
    document = await dying.add(await dying.new_library(), mimetype="application/pdf")
    await stuck.wait()
    await dying.close()

    alive = Lab(folder, ScriptedReader(), executor="alive")
    await alive.open()
    try:
        beating = heartbeat.Heartbeat(alive.database, alive.jobs)
        beats = asyncio.create_task(beating.run())
        await asyncio.sleep(1)
        assert (await alive.get(document)).process_status == "in_progress"
        beats.cancel()

        monkeypatch.setattr(heartbeat, "SILENT_SECONDS", 0.1)
        monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.05)
        beats = asyncio.create_task(beating.run())
        assert (await alive.until(document, "done", "error")).process_status == "done"
        beats.cancel()
        assert alive.reader.reads == 1
        # A thread of the dead worker waits for the job's end, and the process for that thread.
        unfinished = partial(alive.jobs.client.list_workflows, status=["PENDING", "ENQUEUED"])
        while await asyncio.to_thread(unfinished):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    finally:
        await alive.close()
