"""Values filled into a PDF's form, made part of its pages: its text layer leaves them out."""

import ctypes
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from typing import Any, NamedTuple

from pypdfium2 import raw

from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.pdf.page_space import Bounds, PageSpace

# It warns of forms in XFA, which have fields of this kind, too.
logging.getLogger("pypdfium2").setLevel(logging.ERROR)
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_TICKS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_COMMENTS = (
    raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_SQUIGGLY, raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_CARET,
)  # fmt: skip
"""Kinds of annotations that may be comments; what is written on the page itself is drawn there."""
_BLANK = 0.15
"""Width of a narrow blank, as a part of a line's height."""
_EDGE = 2.0
"""Points. An edge of a tick is drawn no farther from it."""


class Field(NamedTuple):
    """A field that is seen on a page. A check box or radio button has a sign."""

    bounds: Bounds
    sign: str


def filled_form(document: Any) -> tuple[bytes, Mapping[int, Sequence[Field]]] | None:
    """Draw the fields of PDFium's `document` into its pages; return it with the fields of each
    page, or None if it has none.
    """
    if document.get_formtype() == raw.FORMTYPE_NONE:
        return None
    document.init_forms()
    fields = {}
    for index in range(len(document)):
        with closing(document[index]) as page:
            if found := list(_fields(page)):
                fields[index] = found
                _flatten(document, page)
    if not fields:
        return None
    with closing(BytesIO()) as file:
        document.save(file)
        return file.getvalue(), fields


def with_ticks(
    items: Sequence[TextItem], rules: Sequence[Rule], fields: Sequence[Field], space: PageSpace
) -> tuple[list[TextItem], list[Rule]]:
    """Return a page's items and rules with signs for its ticks in place of what is drawn there."""
    ticks = [(field.sign, space.to_layout(field.bounds)) for field in fields if field.sign]
    boxes = [box for _, box in ticks]
    kept = [item for item in items if not any(box.holds_centre(item.box) for box in boxes)]
    signs = [_sign(sign, _beside_label(box, kept)) for sign, box in ticks]
    return kept + signs, [rule for rule in rules if not any(_frames(rule, box) for box in boxes)]


def _frames(rule: Rule, box: Box) -> bool:
    """Return whether a rule is an edge of a tick."""
    edges = (box.top, box.bottom) if rule.across else (box.left, box.right)
    at_edge = any(abs(rule.at - edge) < _EDGE for edge in edges)
    return at_edge and box.contains(rule.box, _EDGE)


def _beside_label(box: Box, items: Iterable[TextItem]) -> Box:
    """Return a tick's box moved to the text next to it, a narrow blank apart."""
    texts = [item.box for item in items if box.shared_height(item.box) > 0]
    label = max(texts, key=box.shared_width, default=box)
    gap = -box.shared_width(label)
    if abs(gap) >= box.width:
        return box
    way = gap - _BLANK * box.height
    if label.left < box.left:
        way = -way
    return box._replace(left=box.left + way, right=box.right + way)


def _sign(text: str, box: Box) -> TextItem:
    place = (box.left, box.top, box.width, box.height)
    return TextItem(text, *place, 0.0, "", 0.0, [PlacedWord(text, *place)])


def _fields(page: Any) -> Iterator[Field]:
    """Yield each field that is seen on a page."""
    for annotation in _annotations(page, raw.FPDF_ANNOT_WIDGET):
        if not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
            rect, sign = _rect(annotation), ""
            if raw.FPDFAnnot_GetFormFieldType(page.formenv, annotation) in _TICKS:
                sign = "☒" if raw.FPDFAnnot_IsChecked(page.formenv, annotation) else "☐"
            yield Field((rect.left, rect.bottom, rect.right, rect.top), sign)


def _flatten(document: Any, page: Any) -> None:
    """Draw a page's annotations into it; put its links and comments back: PDFium removes them."""
    kept = [
        (
            _rect(annotation),
            raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_LINK,
            _address(document, annotation),
            {key: _text(annotation, key) for key in (b"Contents", b"T")},
        )
        for annotation in _annotations(page, raw.FPDF_ANNOT_LINK, *_COMMENTS)
    ]
    page.flatten()
    for rect, is_link, address, texts in kept:
        kind = raw.FPDF_ANNOT_LINK if is_link else raw.FPDF_ANNOT_TEXT
        annotation = raw.FPDFPage_CreateAnnot(page, kind)
        raw.FPDFAnnot_SetRect(annotation, rect)
        if is_link:
            raw.FPDFAnnot_SetURI(annotation, address)
        else:
            # What shows it is drawn already.
            raw.FPDFAnnot_SetFlags(annotation, raw.FPDF_ANNOT_FLAG_HIDDEN)
            for key, text in texts.items():
                raw.FPDFAnnot_SetStringValue(annotation, key, text)
        raw.FPDFPage_CloseAnnot(annotation)


def _annotations(page: Any, *kinds: int) -> Iterator[Any]:
    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        if annotation := raw.FPDFPage_GetAnnot(page, number):
            if raw.FPDFAnnot_GetSubtype(annotation) in kinds:
                yield annotation
            raw.FPDFPage_CloseAnnot(annotation)


def _rect(annotation: Any) -> Any:
    rect = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, rect)
    return rect


def _text(annotation: Any, key: bytes) -> Any:
    """Return a text of an annotation as PDFium takes it."""
    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    text = (raw.FPDF_WCHAR * size)()
    raw.FPDFAnnot_GetStringValue(annotation, key, text, size)
    return text


def _address(document: Any, link: Any) -> bytes:
    """Return the address that a link annotation leads to, empty if it leads to none."""
    action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(link))
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    address = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, address, size)
    return address.value
