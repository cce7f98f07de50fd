"""`carrel worker`: works off the documents and batches of a shared database."""

import gc
from pathlib import Path
from typing import Annotated

import typer

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import option
from carrel.cli.server_options import (
    BlobsOption,
    DatabaseOption,
    LogFormatOption,
    LogStdoutOption,
    MetricsOption,
    TracesOption,
    check_model_urls,
)


def worker(
    data: Annotated[
        Path,
        option("DIR", "The worker's own folder for its name, log and caches, created if missing."),
    ],
    database: DatabaseOption = None,
    blobs: BlobsOption = None,
    model_url: Annotated[
        list[str] | None,
        option(
            "URL",
            "An OpenAI-compatible address whose models answer; several share the requests. "
            "Without it, the built-in model summarises documents and answers batches.",
        ),
    ] = None,
    log_format: LogFormatOption = "text",
    log_stdout: LogStdoutOption = None,
    metrics: MetricsOption = None,
    traces: TracesOption = None,
) -> None:
    """Process documents and batches for the servers of a database; serve nothing.

    Any number can run, each with a folder of its own. SIGTERM and ctrl+c stop one cleanly: what it
    was working on is resumed by itself at its next start, or after a minute by another. The same
    happens when it is killed.

    Options can stand in DIR/settings.toml, as for “carrel serve”.
    """
    check_model_urls(model_url or ())
    from carrel.local.installed import require_server

    require_server()
    # Collection takes a seventh of the start; the server begins it when it is ready.
    gc.disable()
    from carrel.server.serve import work
    from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError

    settings = ServerSettings(
        data=data,
        database=database,
        blobs=blobs,
        model_url=tuple(model_url or ()),
        log_format=log_format,
        log_stdout=log_stdout,
        metrics=metrics,
        traces=traces,
    )
    try:
        shared = database or FolderSettings.load(data / "settings.toml").database
    except ServerSettingsError as error:
        raise CommandError(str(error)) from error
    if shared is None:
        message = "A worker needs the servers' database. Name it with --database."
        raise CommandError(message, Code.USAGE)
    raise typer.Exit(work(settings))
