"""Options that the commands on a server's storage and processes share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import flag, option
from carrel.config.profiles import ConfigError, check_url

DataOption = Annotated[
    Path | None,
    option("DIR", "The server's data folder. Default: the folder of the profile “local”."),
]
DATABASE = option(
    "postgresql://USER@HOST/NAME",
    "The database that servers share. A password comes from PGPASSWORD or ~/.pgpass.",
)
DatabaseOption = Annotated[str | None, DATABASE]
BlobsOption = Annotated[
    str | None,
    option(
        "s3://BUCKET/PREFIX", "The store of files and documents; credentials as for “carrel serve”."
    ),
]
LogFormatOption = Annotated[
    Literal["text", "json"], typer.Option(help="The format of the log's lines.")
]
LogStdoutOption = Annotated[
    bool | None,
    flag(
        "--log-stdout/--no-log-stdout",
        "Write the log to standard output as well as to DIR/log. Default: where that is a "
        "pipe or a socket, as in a container or under systemd.",
    ),
]
MetricsOption = Annotated[
    str | None,
    option(
        "HOST:PORT",
        "Serve Prometheus metrics at http://HOST:PORT/metrics, without a key. Choose a "
        "port that only the collector reaches, such as 127.0.0.1:9464.",
    ),
]
TracesOption = Annotated[
    str | None,
    option(
        "URL",
        "Send OpenTelemetry traces to a collector by OTLP over HTTP, such as "
        "http://127.0.0.1:4318. The OTEL_* variables set sampling and headers.",
    ),
]


def check_model_urls(urls: Sequence[str]) -> None:
    """Check addresses of a model server.

    Raises:
        CommandError: one is not an address.
    """
    for url in urls:
        try:
            check_url(url)
        except ConfigError as error:
            raise CommandError(f"--model-url: {error}", Code.USAGE) from error
