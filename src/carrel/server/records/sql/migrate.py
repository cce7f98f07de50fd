"""Brings a database to the schema of this program, whose number is the folder's format."""

import logging
from importlib.resources import as_file, files

import sqlalchemy as sa

from carrel.server.datadir.folder import FORMAT, DataFolder
from carrel.server.records.sql import migrations, schema
from carrel.server.records.sql.database import make_engine

log = logging.getLogger(__name__)


def migrate(folder: DataFolder) -> None:
    """Migrate a database of an older format, after copying it to `backups/`.

    Every step is one transaction; when it is cut short, the next start does it again.
    """
    if folder.format == FORMAT:
        return
    if folder.database_file.exists():
        log.info("backed up the database to %s", folder.back_up())
    engine = make_engine(folder.database_url)
    try:
        with engine.begin() as connection:
            upgrade(connection)
    finally:
        engine.dispose()
    log.info("migrated the data folder from format %d to %d", folder.format, FORMAT)
    folder.format = FORMAT


def revision(connection: sa.Connection) -> int:
    """Return the number of the schema that the database has; 0 where it has none."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return 0
    return int(connection.scalar(sa.text("SELECT version_num FROM alembic_version")) or 0)


def upgrade(connection: sa.Connection) -> None:
    """Make the schema in an empty database, or run the migrations that another lacks."""
    if not revision(connection):
        schema.create(connection)
        return
    # Alembic takes a tenth of a second to import and is needed once in a folder's life.
    from alembic import command
    from alembic.config import Config

    config = Config()
    with as_file(files(migrations)) as scripts:
        config.set_main_option("script_location", str(scripts).replace("%", "%%"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, f"{FORMAT:04}")
