"""Zip archives, the container of most office formats, and the XML in them: bombs are refused."""

import io
import sys
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lxml import etree

from carrel.server.reading.options import UnreadableDocument

DAMAGE = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError)
"""Raised for an archive or one of its entries that cannot be unpacked."""
MAX_ENTRIES = 10_000
MAX_UNPACKED = 256 * 2**20
MAX_RATIO = 200
"""Largest ratio of an office document's unpacked size to its file size."""
_DAMAGED = (
    "This file is damaged: it cannot be unpacked. Save it again in its program, or send another"
    " copy."
)
_BOMB = (
    "This file is refused: unpacked, it is far larger than a document. Save it again in its"
    " program, or send its parts."
)


def refuse_bomb(data: bytes) -> None:
    """Unpack everything once and count the bytes: the sizes a zip file declares can lie.

    A damaged entry, such as a picture, does not make the others unreadable.

    Raises:
        UnreadableDocument: the archive is damaged, or too large when unpacked.
    """
    limit = min(MAX_UNPACKED, max(len(data) * MAX_RATIO, 2**20))
    total = whole = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > limit:
                raise UnreadableDocument(_BOMB)
            for entry in entries:
                entry.file_size = sys.maxsize  # else reading ends at the declared size
                with suppress(*DAMAGE), archive.open(entry) as content:
                    while chunk := content.read(2**20):
                        total += len(chunk)
                        if total > limit:
                            raise UnreadableDocument(_BOMB)
                    whole += 1
    except DAMAGE as error:
        raise UnreadableDocument(_DAMAGED) from error
    if entries and not whole:
        raise UnreadableDocument(_DAMAGED)


def member(data: bytes, name: str) -> bytes | None:
    """Read one file of the archive; None if there is none of this name, or it is damaged."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive, suppress(KeyError, *DAMAGE):
        return archive.read(name)
    return None


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def parse_xml(content: bytes) -> Any:
    """Return the root element of a document.

    Raises:
        etree.XMLSyntaxError: it is damaged.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(content, parser)


def parse_member(data: bytes, name: str) -> Any:
    """Return the root element of a file of an archive, an empty one if it is missing or damaged."""
    with suppress(etree.XMLSyntaxError):
        return parse_xml(member(data, name) or b"")
    return etree.Element("missing")


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its local name, in any namespace; empty without it."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


def whole_number(text: str | None, otherwise: int) -> int:
    """Return the number that an attribute holds, unless it is another text or too long."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else otherwise
