"""OpenDocument texts and presentations to parts, via the HTML they resemble."""

from typing import Any

from lxml import etree

from carrel.server.reading.office.archive import attribute, member, parse_member
from carrel.server.reading.office.parts import Part
from carrel.server.reading.office.web.html import parts_of_tree
from carrel.server.reading.office.web.inline import name_of
from carrel.server.reading.options import UnreadableDocument

_TAGS = {
    "p": "p", "list": "ul", "list-item": "li", "list-header": "li", "a": "a", "span": "span",
    "line-break": "br", "table": "table", "table-row": "tr", "table-cell": "td", "frame": "div",
    "text-box": "div", "section": "div", "image": "img",
}  # fmt: skip
_SPANS = {"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan"}
_LEFT_OUT = frozenset([
    "annotation", "tracked-changes", "forms", "sequence-decls", "covered-table-cell",
    "table-column", "notes", "object-ole", "settings",
])  # fmt: skip
_MAX_DEPTH = 200
_SPACE = "urn:oasis:names:tc:opendocument:xmlns"


def open_document_pages(data: bytes) -> list[list[Part]]:
    """Return the parts of a text, which is one page, or of every slide."""
    root = parse_member(data, "content.xml")
    if not len(root):
        raise UnreadableDocument("This document is damaged: its content is missing or ends early.")
    bodies = [*root.iter(f"{{{_SPACE}:drawing:1.0}}page")]
    bodies = bodies or [*root.iter(f"{{{_SPACE}:office:1.0}}text")][:1]
    numbered = frozenset(
        attribute(style, "name")
        for style in root.iter("{*}list-style")
        if len(style) and name_of(style[0]) == "list-level-style-number"
    )
    return [_Page(data, numbered).parts(body) for body in bodies]


class _Page:
    """An HTML tree under construction."""

    def __init__(self, data: bytes, numbered: frozenset[str]) -> None:
        self._data = data
        self._numbered = numbered
        self._notes = etree.Element("ol")

    def parts(self, body: Any) -> list[Part]:
        root = etree.Element("body")
        self._add_children(body, root, 0)
        if len(self._notes):
            root.append(self._notes)
        return parts_of_tree(root, lambda name: member(self._data, name))

    def _add_children(self, element: Any, into: Any, depth: int) -> None:
        _add_text(into, element.text)
        for child in element:
            self._add(child, into, depth)
            _add_text(into, child.tail)

    def _add(self, element: Any, into: Any, depth: int) -> None:
        name = name_of(element)
        if name in _LEFT_OUT or depth > _MAX_DEPTH:
            return
        if name in ("s", "tab"):
            _add_text(into, " ")
        elif name == "note":
            self._add_note(element, into, depth)
        else:
            if tag := self._tag(element, name):
                into = etree.SubElement(into, tag)
                names = {**_SPANS, "href": "src" if tag == "img" else "href"}
                known = ((made, attribute(element, name)) for name, made in names.items())
                into.attrib.update({name: value for name, value in known if value})
            self._add_children(element, into, depth + 1)

    def _tag(self, element: Any, name: str) -> str | None:
        if name == "h":
            level = attribute(element, "outline-level") or "1"
            return f"h{level}" if level in "123456" else "h6"
        if name == "list" and attribute(element, "style-name") in self._numbered:
            return "ol"
        if name == "table-cell" and [*element.iterancestors("{*}table-header-rows")]:
            return "th"
        return _TAGS.get(name)

    def _add_note(self, element: Any, into: Any, depth: int) -> None:
        number = str(len(self._notes) + 1)
        etree.SubElement(into, "a").set("href", f"#footnote-{number}")
        note = etree.SubElement(self._notes, "li", id=f"footnote-{number}")
        for body in element.iterfind("{*}note-body"):
            self._add_children(body, note, depth + 1)


def _add_text(into: Any, text: str | None) -> None:
    if len(into):
        into[-1].tail = (into[-1].tail or "") + (text or "")
    else:
        into.text = (into.text or "") + (text or "")
