"""Mends what a program that saved an office file left broken, so that the rest can be read."""

import io
import posixpath
import re
import zipfile

from lxml import etree

from carrel.server.reading.office.archive import DAMAGE

_KINDS = (
    (b"presentationml.slideshow.main+xml", b"presentationml.presentation.main+xml"),
    (b"presentationml.template.main+xml", b"presentationml.presentation.main+xml"),
)
"""Kinds of files that are read as another kind."""
_EXTERNAL = re.compile("external", re.IGNORECASE)


def mended(data: bytes) -> bytes:
    """Return the archive with damaged entries emptied and relations to nowhere left out."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as target,
    ):
        names = set(source.namelist())
        for entry in source.infolist():
            content = _content(source, entry)
            if entry.filename == "[Content_Types].xml":
                for kind, other in _KINDS:
                    content = content.replace(kind, other)
            elif entry.filename.endswith(".rels"):
                content = _leading_somewhere(content, entry.filename, names)
            target.writestr(entry.filename, content)
    return written.getvalue()


def _content(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return source.read(entry)
    except DAMAGE:
        return b""


def _leading_somewhere(content: bytes, name: str, names: set[str]) -> bytes:
    """Return a part's relations without those to parts that the archive lacks."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        return content
    folder = posixpath.dirname(posixpath.dirname(name))
    for relation in list(root):
        path = posixpath.normpath(posixpath.join("/", folder, str(relation.get("Target"))))
        there = path.lstrip("/") in names
        if not there and not _EXTERNAL.fullmatch(relation.get("TargetMode") or ""):
            root.remove(relation)
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    return written
