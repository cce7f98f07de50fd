"""`carrel ocr`: a document's text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, ProfileOption
from carrel.cli.session import run
from carrel.config import load_profile

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.ocr import OCRResult

Format = Literal["md", "json", "jsonl"]

_HOSTED_MODEL = "mistral-ocr-latest"
"""What hosted services call their reader; the bundled server has one and needs no name."""


def ocr(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A PDF, picture or office file.")],
    pages: Annotated[
        str | None,
        typer.Option(metavar="PAGES", help="Which pages, from 0: 2 or 0,2-4. Without it, all."),
    ] = None,
    format: Annotated[
        Format, typer.Option(help="Markdown, JSON as answered, or JSON with a page a line.")
    ] = "md",
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="The reader; the service's usual one without it."),
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Read a document: its text as Markdown on stdout.

    The file is uploaded, read, and removed from the service again.
    """
    from carrel.wire.ocr import OCRRequest, parse_pages

    if model is None and not load_profile(profile).local:
        model = _HOSTED_MODEL
    try:
        parse_pages(pages)
    except ValueError as error:
        raise CommandError(f"--{error}", Code.USAGE) from None

    async def work(client: "Client") -> "OCRResult":
        with output.progress(f"Uploading {file.name}") as report:
            uploaded = await client.files.upload(file, purpose="ocr", on_progress=report)
        try:
            output.note(f"Reading {output.one_line(file.name)} …")
            return await client.ocr.process(
                OCRRequest.model_validate(
                    {"model": model, "document": {"file_id": uploaded.id}, "pages": pages}
                )
            )
        finally:
            await client.files.delete(uploaded.id)

    result = run(profile, work)
    if json or format == "json":
        output.as_json(result)
    elif format == "jsonl":
        for page in result.pages:
            output.data(page.model_dump_json())
    else:
        output.data("\n\n".join(page.markdown.strip("\n") for page in result.pages))
    count = len(result.pages)
    output.note(f"Read {count} {'page' if count == 1 else 'pages'}.")
