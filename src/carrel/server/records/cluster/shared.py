"""A PostgreSQL database, which several servers share."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import sqlalchemy as sa

from carrel.server.datadir.folder import FORMAT, DataFolder, new_secret
from carrel.server.records.cluster import secrets
from carrel.server.records.sql import pgvector
from carrel.server.records.sql.database import make_engine, take_turns, write
from carrel.server.records.sql.migrate import revision, upgrade
from carrel.server.records.sql.queues import make_tables

_OLDEST = 14
_INSUFFICIENT_PRIVILEGE = "42501"


class SharedDatabaseError(Exception):
    """The database cannot be used; the message names the reason and the next step."""


class MissingRights(SharedDatabaseError):
    """The database's user lacks rights that a server needs."""


RIGHTS = "Use the user that ran “carrel migrate”, or have the tables' owner GRANT it their rights."


class Migrated(NamedTuple):
    """A database migrated to the schema of this version."""

    before: int
    """The revision that it had."""
    vectors: str
    """A sentence that says where vectors are compared."""


def migrate(url: str) -> Migrated:
    """Bring the database to the schema of this version.

    Waits while another migrates it.

    Raises:
        SharedDatabaseError: it cannot be used.
    """
    with open_engine(url) as engine:
        with engine.begin() as connection:
            take_turns(connection, "migration")
            before = revision(connection)
            _refuse_newer(engine, before)
            require_suitable(connection)
            if before < FORMAT:
                upgrade(connection)
            vectors = pgvector.install(connection)
        make_tables(engine)
        return Migrated(before, vectors)


def join(folder: DataFolder, url: str) -> None:
    """Join a server's folder to the database: its secrets become the common ones.

    Raises:
        SharedDatabaseError: it cannot be used.
    """
    with open_engine(url) as engine:
        require_current(engine)
        folder.share(lambda own: write(engine, partial(secrets.agree, own=own)))


def common_secret(url: str) -> bytes:
    """Return the pepper of the API key hashes in the database.

    Raises:
        SharedDatabaseError: it cannot be used.
    """
    with open_engine(url) as engine:
        require_current(engine)
        agreed = write(engine, partial(secrets.agree, own={"secret": new_secret()}))
        return bytes.fromhex(agreed["secret"])


@contextmanager
def open_engine(url: str) -> Iterator[sa.Engine]:
    """Yield an engine for the database; close it at the end.

    Raises:
        SharedDatabaseError: it cannot be used.
    """
    # It may hold a password, so a wrong one is not repeated.
    wrong = SharedDatabaseError("--database takes an address such as postgresql://USER@HOST/NAME.")
    if not url.startswith("postgresql://"):
        raise wrong
    try:
        engine = make_engine(url)
    except (sa.exc.ArgumentError, ValueError):
        raise wrong from None
    try:
        yield engine
    except sa.exc.OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise SharedDatabaseError(f"{_name_of(engine)} cannot be used: {reason}") from error
    except sa.exc.ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) != _INSUFFICIENT_PRIVILEGE:
            raise
        reason = str(error.orig).strip().splitlines()[0]
        raise MissingRights(f"{_name_of(engine)} cannot be used: {reason}. {RIGHTS}") from error
    finally:
        engine.dispose()


def require_current(engine: sa.Engine) -> None:
    """Check that the tables have the format of this version.

    Raises:
        SharedDatabaseError: they are not.
    """
    with engine.connect() as connection:
        present = revision(connection)
    _refuse_newer(engine, present)
    if present < FORMAT:
        state = f"has the schema {present}" if present else "has no tables yet"
        raise SharedDatabaseError(
            f"{_name_of(engine)} {state}; this version of Carrel needs the schema {FORMAT}."
            " Run: carrel migrate --database URL"
        )


def _refuse_newer(engine: sa.Engine, present: int) -> None:
    if present > FORMAT:
        raise SharedDatabaseError(
            f"{_name_of(engine)} has the schema {present}; this version of Carrel knows schemas"
            f" up to {FORMAT}. Install a newer Carrel."
        )


def require_suitable(connection: sa.Connection) -> None:
    """Check version and encoding.

    Raises:
        SharedDatabaseError: PostgreSQL is too old, or the database's encoding is not UTF-8.
    """
    version = connection.scalar(sa.text("SELECT current_setting('server_version_num')::int"))
    if (version or 0) < _OLDEST * 10_000:
        raise SharedDatabaseError(f"Carrel needs PostgreSQL {_OLDEST} or newer.")
    encoding = connection.scalar(sa.text("SELECT current_setting('server_encoding')"))
    if encoding != "UTF8" or not connection.scalar(sa.text("SELECT lower('\u00c9') = '\u00e9'")):
        raise SharedDatabaseError(
            "The database cannot tell letters from other characters: its encoding must be UTF8 and"
            " its locale one of a language or C.UTF-8. Create one with: createdb -T template0"
            " -E UTF8 --locale C.UTF-8 NAME"
        )


def _name_of(engine: sa.Engine) -> str:
    return f"The database {engine.url.database} at {engine.url.host or 'this machine'}"
