"""The structure tree of a tagged PDF: what its writer says of the text of a page."""

import ctypes
from collections.abc import Iterator
from itertools import count, product
from typing import Any

from pypdfium2 import raw

from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.tags import Tag, TaggedText
from carrel.server.reading.pdf.page_space import PageSpace

_DEEPEST, _WIDEST = 60, 500
"""Most levels of a tree that are read, and most rows or columns of a cell."""
_KINDS: dict[Role, str] = {
    "heading": "H H1 H2 H3 H4 H5 H6 Title", "list_item": "LI", "caption": "Caption",
    "cell": "TH TD", "footnote": "Note FENote Footnote", "contents_entry": "TOCI", "code": "Code",
}  # fmt: skip
_ROLES = {kind: ROLES.index(role) for role, kinds in _KINDS.items() for kind in kinds.split()}


def tagged_texts(page: Any, space: PageSpace) -> Iterator[TaggedText]:
    """Yield the places of text that the file of PDFium's `page` says something of."""
    tags, edges = ContentTags(page).tags, [ctypes.c_float() for _ in range(4)]
    for number in range(raw.FPDFPage_CountObjects(page) if tags else 0):
        drawn = raw.FPDFPage_GetObject(page, number)
        tag = tags.get(raw.FPDFPageObj_GetMarkedContentID(drawn))
        if tag and raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_TEXT:
            raw.FPDFPageObj_GetBounds(drawn, *edges)
            left, bottom, right, top = (edge.value for edge in edges)
            yield space.to_layout((left, bottom, right, top)), tag


class ContentTags:
    """The tags of a page's marked content, by its numbers, as its tree tells them."""

    def __init__(self, page: Any) -> None:
        self.tags: dict[int, Tag] = {}
        self._numbers, self._rows, self._taken = count(1), count(1), set[tuple[int, int]]()
        tree = raw.FPDF_StructTree_GetForPage(page)
        for number in range(max(0, raw.FPDF_StructTree_CountChildren(tree))):
            if element := raw.FPDF_StructTree_GetChildAtIndex(tree, number):
                self._visit(element, Tag())
        raw.FPDF_StructTree_Close(tree)

    def _visit(self, element: Any, tag: Tag, depth: int = 0) -> None:
        """Visit an element that is part of what has a tag."""
        kind, row, column = _kind(element), 0, 0
        role = _ROLES.get(kind, -1)
        if kind == "Table":
            tag = Tag(table=next(self._numbers))
            self._rows, self._taken = count(1), set()
        elif kind == "TR" and tag.table:
            row = next(self._rows)
        # An item and a cell hold paragraphs, and may hold other blocks.
        elif role >= 0 or (kind == "P" and tag.role < 0):
            tag = tag._replace(block=next(self._numbers), role=role, head=kind == "TH")
        for number in range(max(0, raw.FPDF_StructElement_CountChildren(element))):
            # None for what another page has, or an empty cell.
            child = raw.FPDF_StructElement_GetChildAtIndex(element, number) or None
            content = raw.FPDF_StructElement_GetChildMarkedContentID(element, number)
            if row:
                while (row, column) in self._taken:
                    column += 1
                bottom = row + _span(child, b"RowSpan") - 1
                right = column + _span(child, b"ColSpan") - 1
                tag = Tag(0, -1, tag.table, row, bottom, column, right)
                self._taken |= {*product(range(row, bottom + 1), range(column, right + 1))}
            if child and depth < _DEEPEST:
                self._visit(child, tag, depth + 1)
            elif content >= 0:
                self.tags[content] = tag


def _kind(element: Any) -> str:
    """Return the type of an element, one of the standard's if its own stands for that."""
    buffer = ctypes.create_string_buffer(64)
    raw.FPDF_StructElement_GetType(element, buffer, len(buffer))
    return buffer.raw.decode("utf-16-le", "replace").split("\0")[0]


def _span(cell: Any, name: bytes) -> int:
    """Return how many rows or columns a cell spans."""
    span = ctypes.c_float(1)
    for number in range(max(0, raw.FPDF_StructElement_GetAttributeCount(cell))):
        attributes = raw.FPDF_StructElement_GetAttributeAtIndex(cell, number)
        value = raw.FPDF_StructElement_Attr_GetValue(attributes, name)
        raw.FPDF_StructElement_Attr_GetNumberValue(value, span)
    return max(1, int(min(span.value, _WIDEST)))
