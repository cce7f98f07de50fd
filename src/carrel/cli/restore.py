"""`carrel restore`: restores a backup into a data folder or a database."""

import asyncio
from pathlib import Path
from typing import Annotated

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import argument, flag, option


def restore(
    backup: Annotated[Path, argument("BACKUP", "A folder that “carrel backup” made.")],
    data: Annotated[
        Path | None,
        option("DIR", "The data folder to make; it must be empty or missing.", resolve_path=True),
    ] = None,
    database: Annotated[
        str | None,
        option(
            "postgresql://USER@HOST/NAME",
            "An empty database, prepared by “carrel migrate”, instead; needs --blobs.",
        ),
    ] = None,
    blobs: Annotated[
        str | None,
        option(
            "s3://BUCKET/PREFIX",
            "The store that files and documents go to. Without it, they go to DIR/blobs.",
        ),
    ] = None,
    check: Annotated[
        bool, flag("--check", "Restore nothing: read the backup and compare every hash.")
    ] = False,
) -> None:
    """Restore a backup into an empty data folder or database, and check it by hash.

    A data folder appears when it is whole; until then it is called DIR.restoring. Records reach a
    database in one transaction, after their bytes. The same command goes on where it was cut
    short. Nothing is overwritten, and the backup stays as it is.

    Documents that were waiting are processed when the server starts. Settings that name a database
    or a store are left out of the restored settings.toml.
    """
    if (data is not None) + (database is not None) + check != 1:
        raise CommandError("Name one of --data, --database or --check.", Code.USAGE)
    if database is not None and blobs is None:
        raise CommandError("Name the database's store of documents with --blobs.", Code.USAGE)
    from carrel.local.installed import require_server

    require_server()
    from carrel.cli.storing import explain_errors, progress_of
    from carrel.server.admin.backups import restoring

    with explain_errors(f"the disk of {data or backup}"):
        if check:
            with progress_of("Checking") as progress:
                made = asyncio.run(restoring.check(backup, progress))
            when = output.local_time(int(made.made_at.timestamp()))
            output.note(
                f"{backup} is whole: {output.counted(made.rows, 'row')},"
                f" {output.counted(made.blobs, 'blob')},"
                f" {output.size(made.bytes)}, made {when} by Carrel {made.carrel}."
            )
            return
        with progress_of("Restoring") as progress:
            if data is not None:
                work = restoring.restore_folder(backup, data, blobs, output.note, progress)
                start = f"carrel serve --data {data}"
            else:
                assert database is not None and blobs is not None
                work = restoring.restore_database(backup, database, blobs, output.note, progress)
                start = f"carrel serve --database … --blobs {blobs}"
            made = asyncio.run(work)
    output.note(
        f"Restored {output.counted(made.rows, 'row')} and {output.counted(made.blobs, 'blob')}, all"
        f" equal. Start the server: {start}"
    )
