"""WeasyPrint: HTML with page margins, footnotes and columns; laid out once, painted twice."""

import logging
from typing import Any

import weasyprint
from tinycss2.color4 import parse_color
from weasyprint.text.fonts import FontConfiguration

from corpus.document import Document, Leaf, colour, number
from corpus.looks import Look
from corpus.webpage import Page

logging.getLogger("weasyprint").setLevel(logging.CRITICAL)
logging.getLogger("fontTools").setLevel(logging.CRITICAL)
_FONTS = FontConfiguration()


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    source = Page(document, look, twin=False).html()
    laid = weasyprint.HTML(string=source).render(font_config=_FONTS)
    plain = laid.write_pdf()
    leaves = number(document)
    margins = list(document.margins.leaves())
    for page in laid.pages:
        _paint(page._page_box, None, leaves, margins)
    twin = laid.write_pdf()
    assert isinstance(plain, bytes) and isinstance(twin, bytes)
    return plain, twin


def _paint(box: Any, leaf: Leaf | None, leaves: dict[int, Leaf], margins: list[Leaf]) -> None:
    """Give every text below the box its leaf's colour."""
    if getattr(box, "at_keyword", None):
        text = _text(box)
        named = [one for one in margins if one.role == "running_head" and one.text == text]
        leaf = next(iter(named or [one for one in margins if one.role == "folio"]), None)
    element = getattr(box, "element", None)
    key = element.get("data-leaf") if element is not None and box.element_tag else None
    if key:
        leaf = leaves[int(key)]
    if leaf and hasattr(box, "text"):
        red, green, blue = colour(leaf)
        box.style = box.style.copy()
        box.style["color"] = parse_color(f"rgb({red},{green},{blue})")
    for child in box.all_children() if hasattr(box, "all_children") else ():
        _paint(child, leaf, leaves, margins)


def _text(box: Any) -> str:
    if hasattr(box, "text"):
        return str(box.text)
    return "".join(_text(child) for child in getattr(box, "children", ()))
