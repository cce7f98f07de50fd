"""Brings a data folder to the format of this program."""

import logging
from importlib.resources import as_file, files

from carrel.server import migrations
from carrel.server.folder import FORMAT, DataFolder
from carrel.server.records.database import make_engine

log = logging.getLogger(__name__)


def migrate(folder: DataFolder) -> None:
    """Migrates a database of an older format, after copying it to `backups/`.

    Every step is one transaction; when it is cut short, the next start does it again.
    """
    if folder.format == FORMAT:
        return
    if folder.database_file.exists():
        log.info("backed up the database to %s", folder.back_up())
    _upgrade(folder)
    log.info("migrated the data folder from format %d to %d", folder.format, FORMAT)
    folder.format = FORMAT


def _upgrade(folder: DataFolder) -> None:
    # Alembic takes a tenth of a second to import and is needed once in a folder's life.
    from alembic import command
    from alembic.config import Config

    config = Config()
    engine = make_engine(folder.database_url)
    try:
        with as_file(files(migrations)) as scripts, engine.begin() as connection:
            config.set_main_option("script_location", str(scripts).replace("%", "%%"))
            config.set_main_option("path_separator", "os")
            config.attributes["connection"] = connection
            command.upgrade(config, f"{FORMAT:04}")
    finally:
        engine.dispose()
