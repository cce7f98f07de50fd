"""Office, web and text files to pages, inside a parser, by kreuzberg."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from kreuzberg import ExtractionConfig, PageConfig, extract_bytes_sync
from kreuzberg.exceptions import KreuzbergError, ParsingError

from carrel.server.reading.children import allow_cpu
from carrel.server.reading.markdown import compose_text
from carrel.server.reading.options import ReadOptions, UnreadableDocument, select_pages
from carrel.wire.ocr import Page

MAX_ENTRIES = 10_000
MAX_UNPACKED = 256 * 2**20
MAX_RATIO = 200
"""How many times larger than its file an office document may be unpacked."""
_SECONDS = 60
_UNSUPPORTED = ("application/octet-stream", "application/zip", "application/gzip")
_PICTURE = re.compile(rb"<p:pic\b.*?</p:pic>", re.DOTALL)
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")


class Office:
    """A document in any other format. A context manager; `pages` reads it."""

    def __init__(self, path: Path, mimetype: str) -> None:
        allow_cpu(_SECONDS)
        if mimetype in _UNSUPPORTED:
            raise _unreadable()
        data = path.read_bytes()
        if zipfile.is_zipfile(io.BytesIO(data)):
            _refuse_bomb(data)
        self._pages = _extract(data, mimetype)
        self.page_count = len(self._pages)

    def __enter__(self) -> "Office":
        return self

    def __exit__(self, *_: object) -> None:
        self._pages = []

    def pages(self, options: ReadOptions) -> Iterator[Page]:
        """The selected pages. Formats without pages are one page."""
        for index in select_pages(options, self.page_count):
            yield compose_text(index, self._pages[index], options)


def _extract(data: bytes, mimetype: str) -> list[str]:
    """The Markdown of every page."""
    config = ExtractionConfig(
        use_cache=False,
        output_format="markdown",
        pages=PageConfig(extract_pages=True),
    )
    try:
        try:
            result = extract_bytes_sync(data, mimetype, config=config)
        except ParsingError:
            # One picture without its file fails a whole presentation.
            result = extract_bytes_sync(_without_pictures(data), mimetype, config=config)
    except (KreuzbergError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise _unreadable() from error
    pages = [page["content"] for page in result.pages or []]
    return pages if any(page.strip() for page in pages) else [result.content]


def _without_pictures(data: bytes) -> bytes:
    """The presentation without its pictures."""
    lean = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(lean, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if _SLIDE.fullmatch(entry.filename):
                content = _PICTURE.sub(b"", content)
            new.writestr(entry.filename, content)
    return lean.getvalue()


def _refuse_bomb(data: bytes) -> None:
    """Unpacks everything once, counting, because the sizes a zip file declares can lie."""
    limit = min(MAX_UNPACKED, max(len(data) * MAX_RATIO, 2**20))
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > limit:
                raise _bomb()
            for entry in entries:
                with archive.open(entry) as content:
                    while chunk := content.read(2**20):
                        total += len(chunk)
                        if total > limit:
                            raise _bomb()
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise UnreadableDocument("This file is damaged: it cannot be unpacked.") from error


def _unreadable() -> UnreadableDocument:
    return UnreadableDocument(
        "This file cannot be read: it is damaged, or of a kind that is not supported."
    )


def _bomb() -> UnreadableDocument:
    return UnreadableDocument(
        "This file is refused: unpacked it would be far larger than a document is."
    )
