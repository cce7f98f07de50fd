"""Writing what was read to files: Markdown, JSON, tables as CSV, pictures."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.pages.errors import NoPicture
from carrel.store.problem import Problem, ProblemError
from carrel.store.selectors.boxes import Rect, blocks_of, boxes
from carrel.store.selectors.tables import as_csv, tables

if TYPE_CHECKING:
    from carrel.wire.ocr import Page

Format = Literal["markdown", "json", "csv", "images"]
Draw = Callable[[int, int, Rect], Awaitable[bytes]]
"""Page, width in pixels, part of the page; gives PNG."""

MAX_STEM = 80
_DATA_URL = re.compile(r"data:image/(\w+)[\w.+-]*;base64,")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')


@dataclass(frozen=True)
class Document:
    """What is written: the pages that are read, and the annotation of the whole as JSON text."""

    name: str
    pages: Sequence[Page]
    annotation: str | None = None

    @property
    def stem(self) -> str:
        """The name without its ending, fit for a file on any system."""
        stem = _UNSAFE.sub(" ", Path(self.name).stem).strip(" .")
        return stem[:MAX_STEM] or "document"


async def save(document: Document, format: Format, to: Path, draw: Draw) -> tuple[Path, ...]:
    """Writes a document; a path that is no folder names the file. Nothing is overwritten.

    Pictures always go to a folder, drawn anew from the document where the answer has none.
    """
    if format == "images":
        pictures = [picture async for picture in _pictures(document, draw)]
        _some(pictures, "pictures")
        return await asyncio.to_thread(_write, to, pictures)
    if format == "csv":
        found = [table for page in document.pages for table in tables(page)]
        _some(found, "tables")
        stem = document.stem
        named = [
            (f"{stem} table {number}.csv", as_csv(table.rows).encode())
            for number, table in enumerate(found, 1)
        ]
        return await asyncio.to_thread(_write, to, named)
    ending, text = (
        ("md", markdown(document)) if format == "markdown" else ("json", as_json(document))
    )
    return await asyncio.to_thread(_write, to, [(f"{document.stem}.{ending}", text.encode())])


def markdown(document: Document) -> str:
    """The whole text."""
    return "\n\n".join(page.markdown for page in document.pages) + "\n"


def as_json(document: Document) -> str:
    """The pages as the service answered them."""
    whole: dict[str, object] = {"pages": [page.model_dump(mode="json") for page in document.pages]}
    if document.annotation is not None:
        whole["document_annotation"] = document.annotation
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _some(found: Sequence[object], what: str) -> None:
    if not found:
        raise ProblemError(Problem(f"There are no {what}", "None of the pages read has one."))


async def _pictures(document: Document, draw: Draw) -> AsyncIterator[tuple[str, bytes]]:
    for page in document.pages:
        drawable = {box.block: box for box in boxes(page)}
        sent = {image.id: image.image_base64 for image in page.images}
        for number, block in enumerate(blocks_of(page)):
            if block.image_id is None:
                continue
            own = Path(_UNSAFE.sub(" ", block.image_id)).stem
            name = f"{document.stem} page {page.index + 1} {own}"
            if picture := _sent(sent.get(block.image_id)):
                yield f"{name}.{picture[0]}", picture[1]
            elif (box := drawable.get(number)) and page.dimensions and page.dimensions.width:
                try:
                    yield f"{name}.png", await draw(page.index, page.dimensions.width, box.rect)
                except NoPicture:
                    continue


def _sent(url: str | None) -> tuple[str, bytes] | None:
    """The kind and the bytes of a picture that came with the answer."""
    match = _DATA_URL.match(url or "")
    if url is None or match is None:
        return None
    try:
        return match[1], base64.b64decode(url[match.end() :], validate=True)
    except binascii.Error:
        return None


def _write(to: Path, files: Sequence[tuple[str, bytes]]) -> tuple[Path, ...]:
    to = to.expanduser()
    single = len(files) == 1 and not to.is_dir() and to.suffix
    if not single:
        to.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in files:
        path = _free(to if single else to / name)
        path.write_bytes(content)
        written.append(path)
    return tuple(written)


def _free(path: Path) -> Path:
    """The path, or one like it that is not there yet."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem} {number}")
    return candidate
