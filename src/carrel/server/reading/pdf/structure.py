"""The structure tree of a tagged PDF: what its writer says of the text of a page."""

import ctypes
from collections.abc import Iterator
from itertools import product
from typing import Any

from pypdfium2 import raw

from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.tags import Tag, TaggedText
from carrel.server.reading.pdf.page_space import PageSpace

_DEEPEST, _WIDEST = 60, 500
"""Most levels of a tree that are read, and most rows or columns of a cell."""
_ROLES: dict[str, Role] = {
    **dict.fromkeys(["H", *(f"H{level}" for level in range(1, 7)), "Title"], "heading"),
    **dict.fromkeys(["Note", "FENote", "Footnote"], "footnote"),
    **dict.fromkeys(["TH", "TD"], "cell"),
    "LI": "list_item",
    "Caption": "caption",
    "TOCI": "contents_entry",
    "Code": "code",
}


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
        self._blocks = self._tables = self._rows = 0
        self._taken = set[tuple[int, int]]()
        tree = raw.FPDF_StructTree_GetForPage(page)
        for number in range(max(0, raw.FPDF_StructTree_CountChildren(tree))):
            if element := raw.FPDF_StructTree_GetChildAtIndex(tree, number):
                self._visit(element, Tag())
        raw.FPDF_StructTree_Close(tree)

    def _visit(self, element: Any, tag: Tag, depth: int = 0) -> None:
        """Visit an element that is part of what has a tag."""
        kind, column = _kind(element), 0
        role = _ROLES.get(kind)
        if kind == "Table":
            self._tables += 1
            self._rows, self._taken, tag = 0, set(), Tag(table=self._tables)
        # An item and a cell hold paragraphs, and may hold other blocks.
        elif role or (kind == "P" and tag.role < 0):
            self._blocks += 1
            tag = tag._replace(block=self._blocks, role=ROLES.index(role) if role else -1)
        in_row = kind == "TR" and tag.table
        self._rows += bool(in_row)
        for number in range(max(0, raw.FPDF_StructElement_CountChildren(element))):
            # None for what another page has, or an empty cell.
            child = raw.FPDF_StructElement_GetChildAtIndex(element, number) or None
            content = raw.FPDF_StructElement_GetChildMarkedContentID(element, number)
            if in_row:
                while (self._rows, column) in self._taken:
                    column += 1
                bottom = self._rows + _span(child, b"RowSpan") - 1
                right = column + _span(child, b"ColSpan") - 1
                tag = Tag(0, -1, tag.table, self._rows, bottom, column, right, _kind(child) == "TH")
                places = product(range(self._rows, bottom + 1), range(column, right + 1))
                self._taken.update(places)
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
