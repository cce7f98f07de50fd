"""OCR of a document through the service, in batches if its page count is known."""

import asyncio
import mimetypes
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from carrel.cli import output
from carrel.cli.errors import CommandError
from carrel.store.core.formatting import time_left
from carrel.system.filenames import file_name

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.ocr import OCRDocument, OCRResult

BATCH = 8
"""Most pages requested at a time, after the first."""
BATCH_SECONDS = 2.0
"""Target duration of a batch in seconds; slower pages are requested in smaller batches."""
_BAR = 20
"""Cells of a progress bar."""
_PAGED = (".pdf", ".tif", ".tiff")


@dataclass(frozen=True)
class Manner:
    """The options of every request; pages count from 0."""

    model: str | None
    pages: str | None
    pictures: bool
    tables: bool
    schema: dict[str, Any] | None

    def fields(self) -> dict[str, Any]:
        """Return a request's fields for all pages at once."""
        fields: dict[str, Any] = {"model": self.model, "pages": self.pages}
        if self.pictures:
            fields["include_image_base64"] = True
        if self.tables:
            fields["table_format"] = "html"
        if self.schema is not None:
            named = {"name": str(self.schema.get("title", "document")), "schema": self.schema}
            fields["document_annotation_format"] = {"type": "json_schema", "json_schema": named}
        return fields


@dataclass(frozen=True)
class SentDocument:
    """A document in a request's form, and its page count if known."""

    document: "OCRDocument"
    page_count: int | None


def is_address(source: str) -> bool:
    """Return whether a document is a URL rather than a path."""
    return source.lower().startswith(("https://", "http://"))


def name_of(source: str) -> str:
    """Return a document's name: the last part of its path or URL."""
    if not is_address(source):
        return Path(source).name
    return file_name(unquote(urlsplit(source).path).rstrip("/"), "document")


@asynccontextmanager
async def open_source(client: "Client", source: str) -> AsyncIterator[SentDocument]:
    """Yield a document at a path, uploaded and removed afterwards, or at a URL."""
    from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk

    if is_address(source):
        kind = mimetypes.guess_type(urlsplit(source).path)[0] or ""
        picture = kind.startswith("image/")
        yield SentDocument(
            ImageURLChunk(image_url=source) if picture else DocumentURLChunk(document_url=source),
            None,
        )
        return
    path = Path(source)
    with output.progress(f"Uploading {path.name}") as report:
        uploaded = await client.files.upload(path, purpose="ocr", on_progress=report)
    try:
        yield SentDocument(FileChunk(file_id=uploaded.id), await _page_count(path))
    finally:
        await client.discard(uploaded.id)


async def batches(
    client: "Client", opened: SentDocument, manner: Manner, label: str
) -> AsyncGenerator["OCRResult"]:
    """Yield the answers in page order; show progress meanwhile.

    An annotation covers all pages at once, so such a document is one request.
    """
    from carrel.wire.ocr import OCRRequest

    async def ask(pages: Sequence[int] | None) -> "OCRResult":
        fields = {**manner.fields(), "document": opened.document}
        if pages is not None:
            fields["pages"] = list(pages)
        return await client.ocr.process(OCRRequest.model_validate(fields))

    numbers = None if manner.schema is not None else _numbers(manner.pages, opened.page_count)
    if numbers is None:
        with output.show_waiting(f"Reading {label} …"):
            result = await ask(None)
        yield result
        return
    with output.show_changing() as show:
        began, done, size = time.monotonic(), 0, 1
        while done < len(numbers):
            show(f"Reading {label}  {_progress(done, len(numbers), time.monotonic() - began)}")
            asked = time.monotonic()
            result = await ask(numbers[done : done + size])
            seconds = max(1e-6, time.monotonic() - asked)
            done += size
            size = max(1, min(BATCH, int(BATCH_SECONDS * size / seconds)))
            yield result


def count_from_zero(pages: str) -> str:
    """Convert `1,3-5` to a request's form, `0,2-4`.

    Raises:
        ValueError: a part is neither a page number from 1 nor a rising range.
    """
    from carrel.wire.ocr import parse_pages

    ranges = parse_pages(pages) or []
    if any(part.start == 0 for part in ranges):
        raise ValueError("the first page is 1")
    return ",".join(f"{part.start - 1}-{part.stop - 2}" for part in ranges)


def join(results: Sequence["OCRResult"]) -> "OCRResult":
    """Join the answers of all batches into one."""
    last = results[-1]
    pages = [page for result in results for page in result.pages]
    usage = last.usage_info.model_copy(update={"pages_processed": len(pages)})
    return last.model_copy(update={"pages": pages, "usage_info": usage})


def _numbers(pages: str | None, page_count: int | None) -> list[int] | None:
    """Return the pages to ask for in order, counted from 0; None leaves that to the service.

    Raises:
        CommandError: a page is beyond the document's end.
    """
    from carrel.wire.ocr import parse_pages

    if page_count is None:
        return None
    ranges = parse_pages(pages)
    if ranges is None:
        return list(range(page_count))
    if beyond := [max(part.start, page_count) for part in ranges if part.stop > page_count]:
        have = "1 page" if page_count == 1 else f"{page_count} pages"
        raise CommandError(f"There is no page {beyond[0] + 1}: the document has {have}.")
    return list(dict.fromkeys(chain.from_iterable(ranges)))


async def _page_count(path: Path) -> int | None:
    from carrel.pages.errors import NoPicture
    from carrel.pages.renderer import Renderer

    if path.suffix.lower() not in _PAGED:
        return None
    renderer = Renderer()
    try:
        return await renderer.page_count(path)
    except NoPicture:
        return None
    finally:
        await asyncio.shield(renderer.close())


def _progress(done: int, total: int, seconds: float) -> str:
    """Return `━━━━━───── 5 of 10 pages · 2.5 pages/s · about 2 s left`."""
    full = _BAR * done // total
    words = f"{'━' * full}{'─' * (_BAR - full)}  {done} of {total} pages"
    if not done:
        return words
    rate = done / seconds
    rest = time_left((total - done) / rate)
    return f"{words} · {rate:.{0 if rate >= 10 else 1}f} pages/s · about {rest}"
