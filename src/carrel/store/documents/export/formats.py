"""The forms of an export, and the copyable parts of a page."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.pages.errors import NoPicture
from carrel.store.core.formatting import count
from carrel.store.core.problem import ProblemError
from carrel.store.documents.blocks import Rect, blocks_of
from carrel.store.documents.boxes import boxes
from carrel.store.documents.corrections import Corrections, apply_corrections, corrected_page
from carrel.store.documents.formatting import annotation
from carrel.store.documents.table_rows import as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.system.atomic import replacing
from carrel.system.filenames import file_name, free

if TYPE_CHECKING:
    from carrel.store.documents.state import DocumentState
    from carrel.wire.ocr import Page

ExportFormat = Literal["markdown", "json", "csv", "images"]
Draw = Callable[[int, int, Rect], Awaitable[bytes]]
"""Function that draws a page, at a width in pixels and cropped to a part, as PNG."""

NamedFile = tuple[str, bytes]

_LONGEST = 100
"""Longest document or picture name in bytes: a file name may contain both."""
_DATA_URL = re.compile(r"data:image/(\w+)[\w.+-]*;base64,")


@dataclass(frozen=True)
class ReadDocument:
    """The read pages, their corrections, and the document's annotation as JSON text."""

    name: str
    pages: Sequence[Page]
    annotation: str | None = None
    corrections: Corrections = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name without its extension, valid as a file name on any system."""
        return Path(file_name(self.name, "document", _LONGEST)).stem


async def files(document: ReadDocument, format: ExportFormat, draw: Draw) -> list[NamedFile]:
    """Return a document as files. Pictures that the answer lacks are drawn from the document."""
    match format:
        case "markdown":
            return [(f"{document.stem}.md", markdown(document).encode())]
        case "json":
            return [(f"{document.stem}.json", as_json(document).encode())]
        case "csv":
            pages = [corrected_page(page, document.corrections) for page in document.pages]
            found = [table for page in pages for table in tables(page)]
            made = [
                (f"{document.stem} table {number}.csv", as_csv(table.rows).encode())
                for number, table in enumerate(found, 1)
            ]
        case "images":
            made = [picture async for picture in _pictures(document, draw)]
    if not made:
        what = "tables" if format == "csv" else "pictures"
        raise ProblemError(f"There are no {what}", "None of the pages read has one.")
    return made


def zip_files(named: Sequence[NamedFile]) -> bytes:
    """Return several files as one ZIP file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in named:
            zip_file.writestr(name, content)
    return archive.getvalue()


def write(to: Path, named: Sequence[NamedFile], *, again: bool = False) -> Iterator[Path]:
    """Write files to a folder, each whole or not at all, and yield their paths; a path with an
    extension names a single file.

    Nothing is overwritten: a taken name gets a number. With `again`, a file that an earlier start
    wrote is not written a second time.
    """
    single = len(named) == 1 and not to.is_dir() and to.suffix
    (to.parent if single else to).mkdir(parents=True, exist_ok=True)
    for name, content in named:
        path = free(to if single else to / name, content if again else None)
        with replacing(path) as file:
            file.write(content)
        yield path


def markdown(document: ReadDocument) -> str:
    """Return the whole text with its corrections."""
    pages = (apply_corrections(page, document.corrections) for page in document.pages)
    return "\n\n".join(pages) + "\n"


def as_json(document: ReadDocument) -> str:
    """Return the pages as the service's JSON."""
    whole: dict[str, object] = {"pages": [page.model_dump(mode="json") for page in document.pages]}
    if document.annotation is not None:
        whole["document_annotation"] = document.annotation
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


async def _pictures(document: ReadDocument, draw: Draw) -> AsyncIterator[NamedFile]:
    for page in document.pages:
        drawable = {box.block: box for box in boxes(page)}
        sent = {image.id: image.image_base64 for image in page.images}
        for number, block in enumerate(blocks_of(page)):
            if block.image_id is None:
                continue
            own = Path(file_name(block.image_id, "picture", _LONGEST)).stem
            name = f"{document.stem} page {page.index + 1} {own}"
            if picture := decode_picture(sent.get(block.image_id)):
                yield f"{name}.{picture[0]}", picture[1]
            elif (box := drawable.get(number)) and page.dimensions and page.dimensions.width:
                try:
                    yield f"{name}.png", await draw(page.index, page.dimensions.width, box.rect)
                except NoPicture:
                    continue


def decode_picture(url: str | None) -> tuple[str, bytes] | None:
    """Return the type and the bytes of a picture in the answer, or None."""
    match = _DATA_URL.match(url or "")
    if url is None or match is None:
        return None
    try:
        return match[1], base64.b64decode(url[match.end() :], validate=True)
    except binascii.Error:
        return None


def copyable_parts(state: DocumentState) -> dict[str, tuple[str, str]]:
    """Return the copyable parts: name, description and text."""
    offers: dict[str, tuple[str, str]] = {}
    page = None if state.page is None else corrected_page(state.page, state.corrections)
    if page is not None:
        blocks = blocks_of(page)
        found = tables(page)
        # The chosen table first.
        for number, table in sorted(
            enumerate(found, 1), key=lambda one: (one[1].block != state.block, one[0])
        ):
            size = f"{count(len(table.rows))} rows"
            name = f"table {number}" if offers else "table"
            offers[f"{name} as CSV"] = (size, as_csv(table.rows))
            offers[f"{name} as Markdown"] = (size, as_markdown(table.rows))
        if state.block is not None and state.block < len(blocks):
            block = blocks[state.block]
            chosen = {"block": (block.type, block.content)}
            offers = offers | chosen if block.type == "table" else chosen | offers
        offers["page"] = ("Markdown", page.markdown)
    read = [apply_corrections(page, state.corrections) for page in state.pages if page is not None]
    if len(read) > 1:
        offers["all pages"] = (f"{count(len(read))} read", "\n\n".join(read))
    if text := annotation(state):
        offers["schema"] = ("the answer in it, JSON", text)
    if state.source is not None:
        offers |= {"name": ("", state.source.name), "id": ("", state.source.id)}
    return offers
