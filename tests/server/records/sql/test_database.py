"""The database's threads and transactions."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.records.sql.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'test.db'}")
    await database.write(lambda c: c.execute(sa.text("CREATE TABLE numbers (n INTEGER)")))
    yield database
    database.close()


def add(connection: sa.Connection) -> int:
    count = connection.scalars(sa.text("SELECT count(*) FROM numbers")).one()
    time.sleep(0.001)
    connection.execute(sa.text("INSERT INTO numbers VALUES (:n)"), {"n": count})
    return int(count)


async def numbers(database: Database) -> list[int]:
    return await database.read(
        lambda c: list(c.scalars(sa.text("SELECT n FROM numbers ORDER BY n")))
    )


async def test_writes_come_one_after_another(database: Database) -> None:
    given = await asyncio.gather(*(database.write(add) for _ in range(40)))
    assert sorted(given) == await numbers(database) == list(range(40))


async def test_a_write_that_fails_changes_nothing(database: Database) -> None:
    def add_and_fail(connection: sa.Connection) -> None:
        add(connection)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await database.write(add_and_fail)
    assert await numbers(database) == []


async def test_a_read_sees_one_state_while_others_write(database: Database) -> None:
    await database.write(add)
    loop = asyncio.get_running_loop()

    def read_twice(connection: sa.Connection) -> tuple[int, int]:
        query = sa.text("SELECT count(*) FROM numbers")
        before = connection.scalars(query).one()
        asyncio.run_coroutine_threadsafe(database.write(add), loop).result(10)
        return int(before), int(connection.scalars(query).one())

    assert await database.read(read_twice) == (1, 1)
    assert len(await numbers(database)) == 2


async def test_reads_run_side_by_side(database: Database) -> None:
    both = asyncio.Barrier(2)
    loop = asyncio.get_running_loop()

    def meet(connection: sa.Connection) -> None:
        asyncio.run_coroutine_threadsafe(_wait(both), loop).result(10)

    await asyncio.gather(database.read(meet), database.read(meet))


async def _wait(barrier: asyncio.Barrier) -> None:
    await barrier.wait()


async def test_a_commit_is_on_disk_and_foreign_keys_hold(database: Database) -> None:
    def pragmas(connection: sa.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert await database.read(pragmas) == ["wal", 2, 1, 5000]
