"""Office, web and text files to pages, inside a parser: the best reader for each format."""

import io
import logging
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from carrel.server.formats.charsets import decode_text, unicode_of
from carrel.server.processes.limits import allow_cpu
from carrel.server.reading.office.archive import refuse_bomb
from carrel.server.reading.office.compose import compose_parts
from carrel.server.reading.office.mail import mail_page, plain_parts
from carrel.server.reading.office.markdown import parts_of_markdown
from carrel.server.reading.office.mending import mend
from carrel.server.reading.office.opendocument import open_document_pages
from carrel.server.reading.office.parts import Part
from carrel.server.reading.office.sheets import sheet_pages, table_page
from carrel.server.reading.office.web.html import book_pages, parts_of_html
from carrel.server.reading.options import ReadOptions, UnreadableDocument, select_pages
from carrel.wire.ocr import Page

log = logging.getLogger(__name__)

_SECONDS = 60
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_UNSUPPORTED = ("application/octet-stream", "application/zip", "application/gzip")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_UNREADABLE = (
    "This file cannot be read: it is damaged, protected by a password, or of a kind that is not"
    " supported."
)

Pages = list[list[Part]]


class Office(AbstractContextManager["Office"]):
    """An office, web or text file. A context manager; `pages` reads it."""

    def __init__(self, path: Path, mimetype: str) -> None:
        allow_cpu(_SECONDS)
        if mimetype in _UNSUPPORTED:
            raise UnreadableDocument(_UNREADABLE)
        data = path.read_bytes()
        if _ENCRYPTED in data:
            raise UnreadableDocument(
                "This document is protected by a password. Remove the password and try again."
            )
        if zipfile.is_zipfile(io.BytesIO(data)):
            refuse_bomb(data)
        self._pages = _read(data, mimetype) or [[]]
        self.page_count = len(self._pages)

    def __exit__(self, *_: object) -> None:
        self._pages = []

    def pages(self, options: ReadOptions) -> Iterator[Page]:
        """Yield the selected pages. Formats without pages are one page."""
        for index in select_pages(options, self.page_count):
            yield compose_parts(index, self._pages[index], options)


def _read(data: bytes, mimetype: str) -> Pages:
    """Read the parts of every page; if that fails, mended, by kreuzberg, or as plain text."""
    reader = reader_of(mimetype)
    attempts = (reader, lambda data: reader(mend(data)), partial(_convert, mimetype=mimetype))
    for attempt in attempts:
        try:
            return attempt(data)
        except (UnreadableDocument, MemoryError, SystemExit):
            raise
        except BaseException:
            # Libraries do not document their exceptions; those in Rust panic beside Exception.
            log.info("another way to read a document is tried", exc_info=True)
    if unicode_of(data):
        return [plain_parts(decode_text(data))]
    raise UnreadableDocument(_UNREADABLE)


def reader_of(mimetype: str) -> Callable[[bytes], Pages]:
    """Return the reader of a format; import those that load slowly on demand."""
    match mimetype.removeprefix(_OFFICE).removeprefix(_OPEN):
        case "text/html" | "application/xhtml+xml":
            return lambda data: [parts_of_html(data)]
        case "text/markdown":
            return lambda data: [parts_of_markdown(decode_text(data))]
        # kreuzberg makes a paragraph of every line of LaTeX, and cannot read subtitles.
        case "text/plain" | "application/x-tex" | "text/vtt":
            return lambda data: [plain_parts(decode_text(data))]
        case "text/csv":
            return lambda data: [table_page(data)]
        case "text/tab-separated-values":
            return lambda data: [table_page(data, "\t")]
        case "message/rfc822":
            return lambda data: [mail_page(data)]
        case "application/epub+zip":
            return book_pages
        case ".wordprocessingml.document":
            from carrel.server.reading.office.word.pages import word_pages

            return word_pages
        case ".presentationml.presentation":
            from carrel.server.reading.office.slides import slide_pages

            return slide_pages
        case ".spreadsheetml.sheet" | ".spreadsheet" | "application/vnd.ms-excel":
            return sheet_pages
        case ".text" | ".presentation":
            return open_document_pages
        case _:
            return partial(_convert, mimetype=mimetype)


def _convert(data: bytes, mimetype: str) -> Pages:
    """Convert the rarer formats to Markdown with kreuzberg."""
    from kreuzberg import ExtractionConfig, ImageExtractionConfig, PageConfig, extract_bytes_sync

    config = ExtractionConfig(
        use_cache=False,
        output_format="markdown",
        images=ImageExtractionConfig(extract_images=True),
        pages=PageConfig(extract_pages=True),
    )
    result = extract_bytes_sync(data, mimetype, config=config)
    pictures = {image["image_index"]: image["data"] for image in result.images or []}

    def find(source: str) -> bytes | None:
        number = re.fullmatch(r"image_(\d+)\.\w+", source)
        return pictures.get(int(number[1])) if number else None

    pages = [page["content"] for page in result.pages or []]
    sources = pages if any(page.strip() for page in pages) else [result.content]
    return [parts_of_markdown(source, find) for source in sources]
