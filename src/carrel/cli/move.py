"""`carrel move`: a server's records and bytes, from a folder to a database and a bucket or back."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError

_SHARED = "postgresql://"


def move(
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="DIR or postgresql://…", help="The present data folder or database."
        ),
    ],
    target: Annotated[
        str,
        typer.Option("--to", metavar="postgresql://… or DIR", help="The new one, which is empty."),
    ],
    blobs: Annotated[
        str,
        typer.Option(
            metavar="s3://BUCKET/PREFIX",
            help="The store of files and documents that belongs to the database; credentials as "
            "for “carrel serve”.",
        ),
    ],
) -> None:
    """Copy everything a server keeps from a data folder to a database, or back.

    Stop every server and worker of both first. Run “carrel migrate” on a new database. Bytes,
    records and keys are copied and compared by count and hash; the source stays as it is. A move
    that was cut short goes on when it is run again.

    Signed addresses that were handed out stop working. Documents and batches that wait are worked
    off at the new place.
    """
    places = (source, target)
    if len([place for place in places if place.startswith(_SHARED)]) != 1:
        message = "Move from a data folder to a postgresql:// database, or from one to a folder."
        raise CommandError(message, Code.USAGE)
    if not source.startswith(_SHARED) and not (Path(source) / "carrel.db").is_file():
        raise CommandError(f"There is no server's data in {source}.", Code.USAGE)
    from carrel.local.installed import require_server

    require_server()
    from carrel.cli.storing import errors_in_words
    from carrel.server.admin.moving import in_database, in_folder
    from carrel.server.admin.moving import move as copy

    with errors_in_words("the disk"), ExitStack() as stack:
        here, there = (
            stack.enter_context(
                in_database(place, blobs) if place.startswith(_SHARED) else in_folder(Path(place))
            )
            for place in places
        )
        rows = asyncio.run(copy(here, there, output.note))
    output.note(f"Everything is there and equal: {rows} rows.")
