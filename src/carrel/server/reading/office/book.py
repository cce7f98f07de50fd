"""EPUB books to parts: a chapter is a page."""

import posixpath
from urllib.parse import unquote

from carrel.server.reading.office.archive import member, parsed_member
from carrel.server.reading.office.parts import Part
from carrel.server.reading.office.web.html import parts_of_html
from carrel.server.reading.options import UnreadableDocument


def book_pages(data: bytes) -> list[list[Part]]:
    """Return the parts of every chapter, in the order of the book."""
    container = parsed_member(data, "META-INF/container.xml")
    named = () if container is None else container.iter("{*}rootfile")
    package = next((each.get("full-path") for each in named), "")
    root = parsed_member(data, package)
    if root is None:
        raise UnreadableDocument("This book is damaged: it does not say which chapters it has.")
    files = {item.get("id"): item.get("href") for item in root.iter("{*}item")}
    chapters = [files.get(item.get("idref")) for item in root.iter("{*}itemref")]
    folder = posixpath.dirname(package)
    pages = [_chapter(data, _joined(folder, name)) for name in chapters if name]
    return [page for page in pages if page]


def _chapter(data: bytes, name: str) -> list[Part]:
    content = member(data, name)
    folder = posixpath.dirname(name)
    return parts_of_html(content or b"", lambda source: member(data, _joined(folder, source)))


def _joined(folder: str, address: str) -> str:
    """Resolve an address inside the book to a name in the archive."""
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))
