"""`carrel migrate`: the tables of the bundled server."""

from typing import Annotated

from carrel.cli import output
from carrel.cli.errors import CommandError
from carrel.cli.server_options import DATABASE


def migrate(database: Annotated[str, DATABASE]) -> None:
    """Create or upgrade the tables of a server's PostgreSQL database.

    Run it once before the first server of a new version starts; several at a time wait for each
    other. Run “carrel backup” first. A data folder is migrated by the server itself.
    """
    from carrel.local.installed import require_server

    require_server()
    from carrel.server.datadir.folder import FORMAT
    from carrel.server.records.cluster.shared import SharedDatabaseError
    from carrel.server.records.cluster.shared import migrate as migrate_shared

    try:
        before, vectors = migrate_shared(database)
    except SharedDatabaseError as error:
        raise CommandError(str(error)) from error
    if before == FORMAT:
        output.note(f"The database has the schema {FORMAT} already.")
    else:
        output.note(f"Migrated the database from schema {before} to {FORMAT}.")
    output.note(vectors)
