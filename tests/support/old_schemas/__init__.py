"""The schemas of older formats, as the versions that had them made them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from carrel.server.datadir.folder import DataFolder

_HERE = Path(__file__).parent
_VERSION = "INSERT INTO alembic_version VALUES ('{:04}');"


def make_folder(folder: DataFolder, format: int, rows: str = "") -> None:
    """Make the database of an older format in an empty folder, with rows by SQL."""
    schema = (_HERE / f"sqlite_{format}.sql").read_text("utf-8")
    with closing(sqlite3.connect(folder.database_file)) as database:
        database.executescript(f"{schema} {_VERSION.format(format)} {rows}")
    folder.format = format


def make_database(connection: sa.Connection, format: int) -> None:
    """Make the tables of an older format in an empty PostgreSQL database."""
    schema = (_HERE / f"postgresql_{format}.sql").read_text("utf-8")
    driver = connection.connection.driver_connection
    assert driver is not None
    # Several statements at once, which only the driver takes.
    driver.execute(f"{schema} {_VERSION.format(format)}")
