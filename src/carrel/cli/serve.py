"""`carrel serve`: the bundled server."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from carrel.cli.errors import Code, CommandError
from carrel.config import ConfigError, check_url, folders


def serve(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="The folder it keeps everything in; made if need be. Without it, the folder of "
            "the profile “local”. A folder has one server at a time.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address it listens on. One that other machines can reach is refused until "
            "a key was made for somebody (see: carrel keys add).",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="The port. 0 takes the last one again, so that signed addresses keep working, or "
            "a free one if it is taken.",
        ),
    ] = 0,
    ready_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Write {"url": …, "api_key": …} to this file, readable by its owner only, '
            "once the server answers.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH.gguf", help="Answer with this model instead of the built-in SmolLM2 135M."
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Answer with the model at an OpenAI-compatible address, such as "
            "http://127.0.0.1:11434/v1.",
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="What signed addresses begin with, where a proxy stands in front: "
            "https://carrel.example.com",
        ),
    ] = None,
    blobs: Annotated[
        str | None,
        typer.Option(
            metavar="s3://BUCKET/PREFIX",
            show_default=False,
            help="Keep the bytes of files and documents in an S3-compatible store instead of "
            "DIR/blobs. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL "
            "in the environment say who you are there and where it is.",
        ),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"],
        typer.Option(help="How the lines of DIR/log are written: as words or as JSON."),
    ] = "text",
    until_unused: Annotated[
        bool,
        typer.Option(
            "--until-unused",
            help="Stop by itself when no workbench has used it for a minute; running work is "
            "finished, queued work is kept for the next start.",
        ),
    ] = False,
) -> None:
    """Run the server: files, agents, OCR, completions and libraries.

    It speaks HTTP; http://ADDRESS:PORT/docs describes every operation.

    It makes its API key on first start (DIR/key, readable by its owner only) and stops cleanly
    on Ctrl+C and SIGTERM. The log is in DIR/log. It ends with 3 if another server has the folder.

    \b
    Lasting settings stand in DIR/settings.toml; an option wins over them:
      model_path = "PATH.gguf"       the model to load instead of the built-in one
      model_url = "http://…/v1"      or an OpenAI-compatible address that answers
      model_key = "…"                its key; CARREL_MODEL_KEY in the environment wins over it
      model_name = "…"               its default model; without it, the first that it lists
      public_url = "https://…"       what signed addresses begin with, behind a proxy
      blobs = "s3://bucket/prefix"   where bytes are kept, from the next start on
      [limits]                       what is accepted, in bytes, pages, days and seconds:
      file_bytes = 536870912           an uploaded file
      file_days = 30                   how long a file is kept whose upload does not say
      document_bytes = 104857600       a document of a library
      ocr_bytes = 52428800             a document to read
      ocr_pages = 1000                 pages of a document to read
      body_bytes = 100663296           any other request, data URLs included
      completion_seconds = 300         the longest that one answer may take
      requests_per_minute = 600        what one organisation may ask
      tokens_per_minute = 100000       what models may read and write for one organisation
      deleted_seconds = 3600           how long the bytes of what was deleted are kept
      remembered_bytes = 268435456     pages that were read, kept to be given again; 0 keeps none
    Without a line, file_bytes, body_bytes, completion_seconds and the last two are as above,
    document_bytes and ocr_bytes as file_bytes, and there is no other bound.

    \b
    With --blobs, signed addresses are the store's own. They work for GET alone, and until the
    bytes are gone: deleted_seconds after the delete. The prefix belongs to this server alone.
    What is in DIR/blobs already must be copied there first; the layout is the same.
    """
    if model is not None and model_url is not None:
        raise CommandError("Give --model or --model-url, not both.", Code.USAGE)
    if model_url is not None:
        try:
            check_url(model_url)
        except ConfigError as error:
            raise CommandError(f"--model-url: {error}", Code.USAGE) from None
    if model is not None and not model.is_file():
        raise CommandError(f"There is no model file at {model}.", Code.USAGE)
    from carrel.local.installed import require_server

    require_server()
    data = data or folders().server
    # SQLite reads this when it is first loaded. Rows it puts aside belong with the documents.
    os.environ["SQLITE_TMPDIR"] = str(data)
    from carrel.server.serve import run
    from carrel.server.settings import Settings, check_public_url

    try:
        public_url = check_public_url(public_url) if public_url else None
    except ValueError as error:
        raise CommandError(f"--public-url {public_url} is {error}.", Code.USAGE) from None

    settings = Settings(
        data=data,
        host=host,
        port=port,
        ready_file=ready_file,
        model_path=model,
        model_url=model_url,
        public_url=public_url,
        blobs=blobs,
        log_format=log_format,
        until_unused=until_unused,
    )
    raise typer.Exit(run(settings))
