"""`carrel ocr`: a document's text, or that of a folder of documents."""

import hashlib
import json as json_format
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.ocr_batches import (
    Manner,
    batches,
    count_from_zero,
    is_address,
    join,
    name_of,
    open_source,
)
from carrel.cli.ocr_folder import read_folder
from carrel.cli.ocr_output import Format, OutputFolders, render, write_text
from carrel.cli.options import JSONOption, ProfileOption, argument, option
from carrel.cli.session import run
from carrel.config.profiles import load_profile
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.ocr import OCRResult


def ocr(
    source: Annotated[
        str,
        argument("FILE|URL|FOLDER", "A PDF, image or office file, its URL, or a folder of them."),
    ],
    pages: Annotated[
        str | None, option("PAGES", "Pages to read, counted from 1: 3 or 1,3-5. Without it, all.")
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            help="Markdown, the JSON answer (its `index` counts from 0), JSON with one page per "
            "line, HTML, or plain text."
        ),
    ] = "md",
    out: Annotated[
        Path | None,
        option(
            "DIR",
            "Write results to this folder, named after their documents, and print their "
            "paths. Required for a folder of documents.",
        ),
    ] = None,
    images: Annotated[
        Path | None, option("DIR", "Write pictures to this folder and link them in the text.")
    ] = None,
    tables: Annotated[
        Literal["csv"] | None,
        typer.Option(help="Write tables as CSV files to --out and link them in the text."),
    ] = None,
    schema: Annotated[
        Path | None,
        option(
            "S.json",
            "Extract data from the whole document in the shape of this JSON schema. The "
            "data is printed instead of the text, or written beside it with --out.",
        ),
    ] = None,
    model: Annotated[
        str | None, option("MODEL", "The OCR model. Default: the service's own.")
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Read a document: its text as Markdown on stdout.

    A file is uploaded, read in batches of pages, and removed from the service, so a read-only
    profile reads URLs only. On an interruption, finished pages are still printed or written.

    A folder is read recursively, one document at a time. Run the same command again to continue
    after an interruption or to read changed documents. Documents that cannot be read are listed
    with the reason, and the exit code is 1.
    """
    if model is None and not load_profile(profile).local:
        from carrel.store.documents.reader import HOSTED_MODEL

        model = HOSTED_MODEL
    try:
        asked = None if pages is None else count_from_zero(pages)
    except ValueError as error:
        raise CommandError(f"--pages: {error}", Code.USAGE) from error
    if tables is not None and out is None:
        raise CommandError("--tables needs --out: a folder to write them to.", Code.USAGE)
    command = _OCR(
        manner=Manner(model, asked, images is not None, tables is not None, _schema(schema)),
        format="json" if json else format,
        out=out,
        images=images,
    )
    folder = Path(source)
    if is_address(source):
        run(profile, partial(command.document, source))
        return
    if not folder.is_dir():
        run(profile, partial(command.document, source), changes=True)
        return
    if out is None:
        raise CommandError("Reading a folder needs --out: a folder for the results.", Code.USAGE)
    if out.resolve() == folder.resolve():
        raise CommandError("--out must not be the folder of the documents.", Code.USAGE)
    run(profile, partial(command.folder, folder), changes=True)


@dataclass(frozen=True)
class _OCR:
    """One command's work."""

    manner: Manner
    format: Format
    out: Path | None
    images: Path | None

    async def document(self, source: str, client: "Client") -> None:
        """Read one document to stdout or to a file. An interruption keeps finished pages."""
        name = name_of(source)
        files = OutputFolders(self.out or Path(), name, self.images, self._tables(Path()))
        results: list[OCRResult] = []
        try:
            await self._read(client, source, name, files, results)
        except BaseException:
            if results:
                self._deliver(join(results), name)
                output.note(f"Stopped after {_pages(results)}.")
            raise
        self._deliver(join(results), name)
        output.note(f"Read {_pages(results)}.")

    async def folder(self, folder: Path, client: "Client") -> None:
        """Read a folder's documents to files."""
        assert self.out is not None
        out = self.out

        async def read(path: Path, place: Path, label: str) -> Path:
            images = self.images / place if self.images else None
            files = OutputFolders(
                out / place.parent, place.name, images, self._tables(place.parent)
            )
            results: list[OCRResult] = []
            await self._read(client, str(path), label, files, results)
            return self._write(join(results), out / place)

        kept_out = [path for path in (out, self.images) if path is not None]
        await read_folder(folder, out, kept_out, self._stamp(), read)

    async def _read(
        self,
        client: "Client",
        source: str,
        label: str,
        files: OutputFolders,
        results: "list[OCRResult]",
    ) -> None:
        """Append the answers to `results` as they arrive, with pictures and tables in files."""
        label = output.one_line(label)
        async with (
            open_source(client, source) as document,
            aclosing(batches(client, document, self.manner, label)) as answers,
        ):
            async for answer in answers:
                pages = [files.separate(page) for page in answer.pages]
                results.append(answer.model_copy(update={"pages": pages}))
        for page in chain.from_iterable(result.pages for result in results):
            if page.vision is not None and page.vision.error is not None:
                output.note(
                    f"{label}: page {page.index + 1} was not read by {page.vision.model}"
                    f" ({page.vision.error}). The built-in reading stands."
                )
        if results[-1].usage_info.document_annotation_condensed:
            output.note(
                f"{label} is longer than the model reads at once: it was shown the beginning of"
                " every page."
            )

    def _deliver(self, result: "OCRResult", name: str) -> None:
        if self.out is not None:
            output.data(str(self._write(result, self.out / name)))
        elif self.manner.schema is not None and self.format != "json":
            output.data(_indent(result.document_annotation))
        else:
            output.data(render(result, self.format, name).rstrip("\n"))

    def _write(self, result: "OCRResult", place: Path) -> Path:
        path = place.with_name(f"{place.name}.{self.format}")
        write_text(path, render(result, self.format, place.name))
        if self.manner.schema is not None:
            annotation = _indent(result.document_annotation)
            write_text(place.with_name(f"{place.name}.annotation.json"), f"{annotation}\n")
        return path

    def _tables(self, parent: Path) -> Path | None:
        return self.out / parent if self.out is not None and self.manner.tables else None

    def _stamp(self) -> str:
        """Return a stamp of all options that affect the results."""
        ways = [asdict(self.manner), self.format, str(self.images)]
        return hashlib.sha256(json_format.dumps(ways, sort_keys=True).encode()).hexdigest()


def _pages(results: "list[OCRResult]") -> str:
    count = sum(len(result.pages) for result in results)
    return f"{count} {'page' if count == 1 else 'pages'}"


def _schema(path: Path | None) -> dict[str, Any] | None:
    """Return the JSON schema in a file.

    Raises:
        CommandError: there is none.
    """
    if path is None:
        return None
    try:
        schema = json_format.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CommandError(f"{path} is not JSON: {error}.", Code.USAGE) from error
    if not isinstance(schema, dict):
        raise CommandError(f"{path} holds no JSON schema. A schema is a JSON object.", Code.USAGE)
    return schema


def _indent(annotation: str | None) -> str:
    """Return an annotation as indented JSON, or unchanged if it is not JSON."""
    annotation = annotation or "null"
    try:
        return json_format.dumps(json_format.loads(annotation), ensure_ascii=False, indent=2)
    except ValueError:
        return clean_text(annotation)
