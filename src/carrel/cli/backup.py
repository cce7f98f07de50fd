"""`carrel backup`: everything that a server keeps, copied while it runs."""

import asyncio
from pathlib import Path
from typing import Annotated

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import argument
from carrel.cli.server_options import BlobsOption, DatabaseOption, DataOption
from carrel.config.profiles import folders


def backup(
    target: Annotated[
        Path,
        argument("BACKUP", "The folder of the backup, which must not exist.", resolve_path=True),
    ],
    data: DataOption = None,
    database: DatabaseOption = None,
    blobs: BlobsOption = None,
) -> None:
    """Copy a server's records, bytes, keys and settings into one folder. The server may run.

    The backup shows one moment: records are a snapshot, and the bytes they name are copied after
    it while garbage collection waits. It is complete once BACKUP exists; until then it is called
    BACKUP.part, and the same command resumes it. Every byte is checked by its hash.

    A backup restores to a data folder or to a database, whichever it came from. It holds keys and
    passwords: keep it as safe as the server.
    """
    from carrel.local.installed import require_server

    require_server()
    from carrel.cli.storing import explain_errors, progress_of
    from carrel.server.admin.backups.archive import MANIFEST
    from carrel.server.admin.backups.making import back_up, database_source, folder_source
    from carrel.server.settings import FolderSettings

    data = data or folders().server
    with explain_errors(f"the disk of {target}"):
        if database is None:
            settings = FolderSettings.load(data / "settings.toml")
            database, blobs = settings.database, blobs or settings.blobs
        if database is not None and blobs is None:
            raise CommandError("Name the database's store of documents with --blobs.", Code.USAGE)
        source = (
            database_source(database, blobs) if database and blobs else folder_source(data, blobs)
        )
        with source as opened, progress_of("Copying") as progress:
            made = asyncio.run(back_up(opened, target, output.note, progress))
    output.note(
        f"Backed up to {target}: {output.counted(made.rows, 'row')},"
        f" {output.counted(made.blobs, 'blob')}, {output.size(made.bytes)}."
    )
    if made.missing:
        raise CommandError(
            f"The server had lost the bytes of {len(made.missing)} files or documents, which"
            f" {target / MANIFEST} lists. All else is in the backup."
        )
