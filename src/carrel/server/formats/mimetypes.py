"""Media types by content; the name only distinguishes kinds of text."""

import re
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from carrel.server.formats.charsets import SAMPLE_BYTES, unicode_of

_TAIL_BYTES = 1024 * 1024
"""The directory of a zip file, with the names that tell its kind, stands at the file's end."""
_DIRECTORY_BYTES = 64 * 1024
_OCTETS = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"

_SIGNATURES: tuple[tuple[bytes, int, str, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png", "png"),
    (b"\xff\xd8\xff", 0, "image/jpeg", "jpg"),
    (b"GIF87a", 0, "image/gif", "gif"),
    (b"GIF89a", 0, "image/gif", "gif"),
    (b"WEBP", 8, "image/webp", "webp"),
    (b"II*\x00", 0, "image/tiff", "tiff"),
    (b"MM\x00*", 0, "image/tiff", "tiff"),
    (b"II+\x00", 0, "image/tiff", "tiff"),
    (b"MM\x00+", 0, "image/tiff", "tiff"),
    (b"ftypavif", 4, "image/avif", "avif"),
    (b"ftypheic", 4, "image/heic", "heic"),
    (b"ftypheix", 4, "image/heic", "heic"),
    (b"ftypmif1", 4, "image/heif", "heif"),
    (b"{\\rtf", 0, "application/rtf", "rtf"),
    (b"\x1f\x8b", 0, "application/gzip", "gz"),
)

_ZIP = b"PK\x03\x04"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_COMPOUND_TYPES = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
}

_OFFICE_PARTS = {
    b"word/document.xml": (f"{_OFFICE}.wordprocessingml.document", "docx"),
    b"ppt/presentation.xml": (f"{_OFFICE}.presentationml.presentation", "pptx"),
    b"xl/workbook.": (f"{_OFFICE}.spreadsheetml.sheet", "xlsx"),
}
_ZIP_MIMETYPES = {
    f"{_OPEN}.text": "odt",
    f"{_OPEN}.presentation": "odp",
    f"{_OPEN}.spreadsheet": "ods",
    "application/epub+zip": "epub",
}

_COMPOUND_STREAMS = {
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book\0": "xls",
    "PowerPoint Document": "ppt",
    "__properties_version1.0": "msg",
}
"""Stream names of old office files and their media types."""

_TEXT_TYPES = {
    "txt": "text/plain",
    "text": "text/plain",
    "log": "text/plain",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "html": "text/html",
    "htm": "text/html",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "tex": "application/x-tex",
    "bib": "application/x-bibtex",
    "rst": "text/x-rst",
    "eml": "message/rfc822",
    "ipynb": "application/x-ipynb+json",
    "vtt": "text/vtt",
}


_PLAIN = ("txt", "text")
_HTML = ("htm", "html", "xhtml", "md", "markdown", "eml")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAIL = re.compile(
    rb"(?:(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|reply-to"
    rb"|delivered-to|content-type|x-[\w-]+):[^\n]*\n(?:[ \t][^\n]*\n)*){2,}"
)
"""Whether a text begins with at least two mail headers; `start` is in lower case."""


class MediaType(NamedTuple):
    """A media type, and the extension that goes with it, without the dot."""

    mimetype: str
    extension: str


def sniff(path: Path, filename: str) -> MediaType:
    """Return the type of the file at `path`; `filename` is its name as sent. Blocking."""
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        tail = file.read() if head.startswith((_ZIP, _COMPOUND)) else b""
        directory = _directory(file, head) if head.startswith(_COMPOUND) else b""
    suffix = PurePosixPath(filename).suffix.lower().removeprefix(".")
    if b"%PDF-" in head[:1024]:
        return MediaType("application/pdf", "pdf")
    # Its first letters alone also begin ordinary text.
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return MediaType("image/bmp", "bmp")
    for magic, offset, mimetype, extension in _SIGNATURES:
        if head.startswith(magic, offset):
            return MediaType(mimetype, extension)
    if head.startswith(_COMPOUND):
        return _compound(directory + head + tail, suffix)
    if head.startswith(_ZIP):
        return _sniff_zip(head, tail)
    if unicode_of(head) or (suffix in _TEXT_TYPES and not _CONTROL.search(head)):
        return _text(head, suffix)
    return MediaType(_OCTETS, suffix)


def _sniff_zip(head: bytes, tail: bytes) -> MediaType:
    # A crafted archive directory could exhaust memory, so it is searched, not parsed.
    if head[30:38] == b"mimetype":
        for mimetype, extension in _ZIP_MIMETYPES.items():
            if head.startswith(mimetype.encode(), 38):
                return MediaType(mimetype, extension)
    # Some programs part the names as Windows does.
    tail = tail.replace(b"\\", b"/")
    for part, office in _OFFICE_PARTS.items():
        if part in tail:
            return MediaType(*office)
    return MediaType("application/zip", "zip")


def _directory(file: BinaryIO, head: bytes) -> bytes:
    """Read the beginning of a compound file's directory."""
    sector = 1 << min(int.from_bytes(head[30:31]), 12)
    file.seek((int.from_bytes(head[48:52], "little") + 1) * sector)
    return file.read(_DIRECTORY_BYTES)


def _compound(content: bytes, suffix: str) -> MediaType:
    # The directory names the file's own streams before those of files embedded in it.
    content = content.lower()
    places = {
        content.find(stream.lower().encode("utf-16-le")): extension
        for stream, extension in _COMPOUND_STREAMS.items()
    }
    first = min((place for place in places if place >= 0), default=None)
    if first is not None:
        return MediaType(_COMPOUND_TYPES[places[first]], places[first])
    return MediaType(_COMPOUND_TYPES.get(suffix, "application/x-ole-storage"), suffix)


def _text(head: bytes, suffix: str) -> MediaType:
    name = unicode_of(head) or "latin-1"
    start = head.decode(name, "replace").lstrip().lower().encode()
    if start.startswith((b"<!doctype html", b"<html")) and suffix not in _HTML:
        return MediaType("text/html", "html")
    if suffix in _TEXT_TYPES and suffix not in _PLAIN:
        return MediaType(_TEXT_TYPES[suffix], suffix)
    if _MAIL.match(start):
        return MediaType("message/rfc822", "eml")
    if start.startswith(b"<?xml"):
        return MediaType("application/xml", "xml")
    return MediaType("text/plain", suffix or "txt")
