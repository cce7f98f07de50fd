"""The structure tree of a tagged PDF: what its writer says of a page's text and figures."""

import ctypes
from collections import defaultdict
from collections.abc import Callable
from itertools import count, product
from typing import Any

from pypdfium2 import raw

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.tags import Tag, TaggedText
from carrel.server.reading.pdf.page_space import PageSpace

_DEEPEST, _WIDEST, _LONGEST = 60, 500, 8192
"""Most levels of a tree that are read, rows or columns of a cell, and bytes of a text."""
_KINDS: dict[Role, str] = {
    "heading": "H H1 H2 H3 H4 H5 H6 Title", "list_item": "LI", "caption": "Caption",
    "cell": "TH TD", "footnote": "Note FENote Footnote", "contents_entry": "TOCI", "code": "Code",
}  # fmt: skip
_ROLES = {kind: ROLES.index(role) for role, kinds in _KINDS.items() for kind in kinds.split()}
_LEVELS = {f"H{level}": level for level in range(1, 7)}
_WORDS = 4
"""Fewest words of an alternative text; shorter ones are names of files and the like."""


def tagged_parts(page: Any, space: PageSpace) -> tuple[list[TaggedText], list[Line]]:
    """Return the tags of the text on PDFium's `page`, and its figures' alternative texts."""
    told, texts = ContentTags(page), list[TaggedText]()
    figures = defaultdict[tuple[int, str], list[Box]](list)
    left, bottom, right, top = edges = [ctypes.c_float() for _ in range(4)]
    for number in range(raw.FPDFPage_CountObjects(page)) if told.tags else ():
        drawn = raw.FPDFPage_GetObject(page, number)
        content = raw.FPDFPageObj_GetMarkedContentID(drawn)
        if (tag := told.tags.get(content)) and raw.FPDFPageObj_GetBounds(drawn, *edges):
            box = space.to_layout((left.value, bottom.value, right.value, top.value))
            if raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_TEXT:
                texts.append((box, tag))
            if figure := told.alternatives.get(content):
                figures[figure].append(box)
    lines = ((text, Box.around(boxes)) for (_, text), boxes in figures.items())
    return texts, [Line(text, box, box.height) for text, box in lines]


class ContentTags:
    """The tags of a page's marked content, by its numbers, and alternative texts of figures."""

    def __init__(self, page: Any) -> None:
        self.tags: dict[int, Tag] = {}
        self.alternatives: dict[int, tuple[int, str]] = {}
        self._numbers, self._rows, self._taken = count(1), count(1), set[tuple[int, int]]()
        tree = raw.FPDF_StructTree_GetForPage(page)
        for number in range(max(0, raw.FPDF_StructTree_CountChildren(tree))):
            if element := raw.FPDF_StructTree_GetChildAtIndex(tree, number):
                self._visit(element, Tag())
        raw.FPDF_StructTree_Close(tree)

    def _visit(self, element: Any, tag: Tag, depth: int = 0) -> None:
        """Visit an element that is part of what has a tag."""
        kind, row, column = _text(raw.FPDF_StructElement_GetType, element), 0, 0
        role, known = _ROLES.get(kind, -1), len(self.tags)
        if kind == "Table":
            tag = Tag(table=next(self._numbers))
            self._rows, self._taken = count(1), set()
        elif kind == "TR" and tag.table:
            row = next(self._rows)
        # An item and a cell hold paragraphs, and may hold other blocks.
        elif role >= 0 or (kind == "P" and tag.role < 0):
            block, level = next(self._numbers), _LEVELS.get(kind, 0)
            tag = tag._replace(block=block, role=role, head=kind == "TH", level=level)
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
        if kind == "Figure":
            text = " ".join(_text(raw.FPDF_StructElement_GetAltText, element).split())
            if sum(map(str.isalpha, text.split())) >= _WORDS:
                self.alternatives |= dict.fromkeys([*self.tags][known:], (known, text))


def _text(read: Callable[..., int], element: Any) -> str:
    """Return a text of an element; its type is the standard's that its own stands for."""
    buffer = ctypes.create_string_buffer(_LONGEST)
    size = read(element, buffer, len(buffer))
    return buffer.raw[:size].decode("utf-16-le", "replace").split("\0")[0]


def _span(cell: Any, name: bytes) -> int:
    """Return how many rows or columns a cell spans."""
    span = ctypes.c_float(1)
    for number in range(max(0, raw.FPDF_StructElement_GetAttributeCount(cell))):
        attributes = raw.FPDF_StructElement_GetAttributeAtIndex(cell, number)
        value = raw.FPDF_StructElement_Attr_GetValue(attributes, name)
        raw.FPDF_StructElement_Attr_GetNumberValue(value, span)
    return max(1, int(min(span.value, _WIDEST)))
