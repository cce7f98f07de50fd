"""`carrel serve`: the bundled server."""

import gc
import os
from pathlib import Path
from typing import Annotated

import typer

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import flag, option
from carrel.cli.server_options import (
    LogFormatOption,
    LogStdoutOption,
    MetricsOption,
    TracesOption,
    check_model_urls,
)
from carrel.config.profiles import folders


def serve(
    data: Annotated[
        Path | None,
        option(
            "DIR",
            "The data folder, created if missing; one server at a time. Default: the folder "
            "of the profile “local”.",
        ),
    ] = None,
    host: Annotated[
        str,
        option(
            "ADDRESS",
            "The address to listen on. An address that other machines can reach needs a key "
            "first (see: carrel keys add).",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        option(
            "N",
            "The port. 0 reuses the last port, so that signed addresses keep working, or "
            "takes a free one.",
            min=0,
            max=65535,
        ),
    ] = 0,
    ready_file: Annotated[
        Path | None,
        option(
            "FILE",
            'Write {"url": …, "api_key": …} to this file once the server answers; readable '
            "by its owner only.",
        ),
    ] = None,
    model: Annotated[
        Path | None, option("PATH.gguf", "The model to load instead of the built-in SmolLM2 135M.")
    ] = None,
    model_url: Annotated[
        list[str] | None,
        option(
            "URL",
            "An OpenAI-compatible address whose models answer, such as "
            "http://127.0.0.1:11434/v1. Several share the requests: each goes to the least busy "
            "one that has the model.",
        ),
    ] = None,
    strict_models: Annotated[
        bool,
        flag(
            "--strict-models",
            "Answer only to the names of the models that run here. Without it, common names "
            "such as mistral-small-latest or gpt-4o mean the default model.",
        ),
    ] = False,
    mcp_write: Annotated[
        bool,
        flag(
            "--mcp-write",
            "Let agents that use the tools at /mcp also create libraries, and add and delete "
            "documents.",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        option("URL", "The base of signed addresses behind a proxy: https://carrel.example.com"),
    ] = None,
    database: Annotated[
        str | None,
        option(
            "postgresql://USER@HOST/NAME",
            "Store records in a PostgreSQL database, which several servers share, instead of "
            "DIR/carrel.db; needs --blobs, and “carrel migrate” first. A password comes from "
            "PGPASSWORD or ~/.pgpass.",
        ),
    ] = None,
    no_worker: Annotated[
        bool,
        flag(
            "--no-worker",
            "Leave documents and batches to the other servers and workers of the database.",
        ),
    ] = False,
    blobs: Annotated[
        str | None,
        option(
            "s3://BUCKET/PREFIX",
            "Store files and documents in an S3-compatible store instead of DIR/blobs. "
            "Credentials and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
            "AWS_REGION and AWS_ENDPOINT_URL.",
        ),
    ] = None,
    log_format: LogFormatOption = "text",
    log_stdout: LogStdoutOption = None,
    metrics: MetricsOption = None,
    traces: TracesOption = None,
    until_unused: Annotated[
        bool,
        flag(
            "--until-unused",
            "Stop after a minute without a workbench. Running work is finished; queued work "
            "is kept for the next start.",
        ),
    ] = False,
) -> None:
    """Run the server: files, agents, OCR, completions and libraries.

    It speaks HTTP; http://ADDRESS:PORT/docs describes every operation.

    The first start creates an API key (DIR/key, readable by its owner only). Ctrl+C and SIGTERM
    stop the server cleanly. The log is in DIR/log. The exit code is 3 if another server has the
    folder.

    \b
    Settings are read from DIR/settings.toml; options override them:
      model_path = "PATH.gguf"       the model to load instead of the built-in one
      model_url = "http://…/v1"      or an OpenAI-compatible address that answers; in [ ] several
      model_key = "…"                its key; CARREL_MODEL_KEY overrides it; in [ ] one for each
      model_name = "…"               the default model; without it, the first that is listed
      embedding_model = "…"          the model at an address that embeds new libraries
      ocr_url = "http://…/v1"        an OpenAI-compatible address whose vision model reads pages
      ocr_model = "…"                that model; requests name it to have it read every page
      ocr_key = "…"                  its key; CARREL_OCR_KEY overrides it
      ocr_for = "doubtful"           its pages where a request does not choose: named, doubtful, all
      rerank_url = "http://…/v1"     a reranker, asked at /rerank for the order of passages
      rerank_key = "…"               its key
      rerank_model = "…"             its model, where it has several
      strict_models = true           answer only to the models' own names
      mcp_write = true               let agents at /mcp change something, too
      public_url = "https://…"       the base of signed addresses behind a proxy
      hosts = ["docs.example.com"]   further host names to answer under; others get 421
      cors = ["https://a.example"]   origins whose pages may call it from a browser
      proxies = ["10.0.0.5"]         proxies whose X-Forwarded-For and -Proto are believed
      database = "postgresql://…"    the database for records, from the next start
      blobs = "s3://bucket/prefix"   the store for files and documents, from the next start
      web_search = "NAME"            the connector that searches the web for agents
      store_signs = true             let the store sign addresses, which clients then reach there
      [connectors.NAME]              an MCP server whose tools agents may use:
      url = "https://…/mcp"            its address
      key = "…"                        its key
      command = ["mcp-server"]         or the command that speaks as one
      env = {TOKEN="…"}                what the command has in its environment
      tools = ["find"]                 the tools that may be called; without it, all
      seconds = 30                     time for one call
      [limits]                       limits in bytes, pages, days and seconds:
      file_bytes = 536870912           an uploaded file
      file_days = 30                   retention of a file whose upload sets none
      document_bytes = 104857600       a document of a library
      ocr_bytes = 52428800             a document to read
      ocr_pages = 1000                 pages of a document to read
      ocr_seconds = 240                time to read a document for one answer
      body_bytes = 100663296           any other request, data URLs included
      completion_seconds = 300         time-out of an answer
      first_token_seconds = 60         wait for a first token before another address is asked
      requests_per_minute = 600        requests of one organisation
      tokens_per_minute = 100000       tokens read and written for one organisation
      organisation_bytes = 50000000000 bytes of files and documents that an organisation may keep
      organisation_documents = 100000  documents that an organisation may keep
      key_requests_per_minute = 100    requests with one API key
      key_tokens_per_minute = 20000    tokens read and written for one API key
      key_answers = 4                  answers of models under way at once for one API key
      trash_days = 7                   days in which deletes can be undone; 0 turns it off
      deleted_seconds = 3600           retention of the bytes of deleted files
      remembered_bytes = 268435456     cache of pages already read; 0 turns it off
    The values above are the defaults of file_bytes, ocr_seconds, body_bytes, completion_seconds,
    first_token_seconds, trash_days, deleted_seconds and remembered_bytes. document_bytes and
    ocr_bytes default to file_bytes; the others to no limit.

    \b
    The prefix of --blobs must belong to this server alone, or to the servers of one database.
    Copy an existing DIR/blobs there first; the layout is the same.
    """
    if model is not None and model_url:
        raise CommandError("Give --model or --model-url, not both.", Code.USAGE)
    check_model_urls(model_url or ())
    if model is not None and not model.is_file():
        raise CommandError(f"No model file at {model}.", Code.USAGE)
    from carrel.local.installed import require_server

    require_server()
    # Collection takes a seventh of the start; the server begins it when it is ready.
    gc.disable()
    data = data or folders().server
    # SQLite reads this on load. Its temporary rows must stay in the data folder.
    os.environ["SQLITE_TMPDIR"] = str(data)
    from carrel.server.serve import run
    from carrel.server.settings import ServerSettings, check_public_url

    try:
        public_url = check_public_url(public_url) if public_url else None
    except ValueError as error:
        raise CommandError(f"--public-url {public_url} is {error}.", Code.USAGE) from error

    settings = ServerSettings(
        data=data,
        host=host,
        port=port,
        ready_file=ready_file,
        model_path=model,
        model_url=tuple(model_url or ()),
        strict_models=strict_models,
        mcp_write=mcp_write,
        public_url=public_url,
        database=database,
        blobs=blobs,
        log_format=log_format,
        log_stdout=log_stdout,
        metrics=metrics,
        traces=traces,
        no_worker=no_worker,
        until_unused=until_unused,
    )
    raise typer.Exit(run(settings))
