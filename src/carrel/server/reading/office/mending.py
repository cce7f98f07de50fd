"""Mends faults that programs left in office files, so that the rest can be read."""

import io
import posixpath
import re
import zipfile
from collections.abc import Container

from lxml import etree

from carrel.server.reading.office.archive import DAMAGE, attribute, pack, parse_xml

_SHOWS = re.compile(rb"presentationml\.(?:slideshow|template)\.main\+xml")
"""Kinds of files that are read as presentations."""
_SHEETS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
"""Type of the relations to a workbook's sheets; those to sheets of macros have another."""
_EXTENT = re.compile(rb'<dimension ref="[^"]*" */>')
"""The cells that a sheet says it has: in some, rows without columns, which nothing reads."""
_RELATIONS, _WORKBOOK = "xl/_rels/workbook.xml.rels", "xl/workbook.xml"
_TYPES = "[Content_Types].xml"
_EXTERNAL = re.compile("external", re.IGNORECASE)


def mend(data: bytes) -> bytes:
    """Return the archive with damaged entries emptied and relations to nowhere left out."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        files = {_name(entry.filename): _content(source, entry) for entry in source.infolist()}
    files |= {
        name: _drop_lost_targets(content, name, files)
        for name, content in files.items()
        if name.endswith(".rels")
    }
    presentation = b"presentationml.presentation.main+xml"
    files[_TYPES] = _SHOWS.sub(presentation, files.get(_TYPES, b""))
    if _WORKBOOK in files:
        files[_WORKBOOK] = _drop_lost_sheets(files[_WORKBOOK], files.get(_RELATIONS, b""))
    return pack(files)


def _name(name: str) -> str:
    """Return an entry's name with forward slashes: some programs write it with backslashes."""
    name = name.replace("\\", "/")
    return _TYPES if name.lower() == _TYPES.lower() else name


def _content(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return _EXTENT.sub(b"", source.read(entry))
    except DAMAGE:
        return b""


def _drop_lost_targets(content: bytes, name: str, names: Container[str]) -> bytes:
    """Return a part's relations, without those to missing targets."""
    try:
        root = parse_xml(content)
    except etree.XMLSyntaxError:
        return content
    folder = posixpath.dirname(posixpath.dirname(name))
    for relation in list(root):
        path = posixpath.normpath(posixpath.join("/", folder, str(relation.get("Target"))))
        there = path.lstrip("/") in names
        if not there and not _EXTERNAL.fullmatch(relation.get("TargetMode") or ""):
            root.remove(relation)
        elif str(relation.get("Type")).endswith("Macrosheet"):
            relation.set("Type", _SHEETS)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _drop_lost_sheets(content: bytes, relations: bytes) -> bytes:
    """Return a workbook without the sheets that none of its relations leads to."""
    try:
        root, known = parse_xml(content), {each.get("Id") for each in parse_xml(relations)}
    except etree.XMLSyntaxError:
        return content
    for sheet in [*root.iter("{*}sheet")]:
        if attribute(sheet, "id") not in known:
            sheet.getparent().remove(sheet)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))
