"""PDF pages parsed by liteparse."""

from collections.abc import Sequence
from typing import Any

# Use the private class: the public one copies each word into Python objects, a fifth of a page's
# time. The version is pinned; tests/server/reading/pdf/test_liteparse.py checks this import.
from liteparse._liteparse import LiteParse

from carrel.server.reading.fence import fenced
from carrel.server.reading.page.drawings import drawings
from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.letter_spacing import join_letters
from carrel.server.reading.page.parsed import Link, ParsedPage, TextItem
from carrel.server.reading.page.rules import drawn_rules, drawn_shades
from carrel.server.reading.pdf.crop import cropped
from carrel.server.reading.pdf.garbage import is_garbage

_UNTRUSTED = frozenset({"garbled", "invisible-text-layer"})
"""Text layers that misstate the page, or hold only some other OCR's output."""
_WITHOUT_TEXT = frozenset({"scanned", "no-text", "vector-text"})
_PICTURES = 0.02
"""Smallest fraction of the page covered by pictures with text worth reading."""


def parse_pages(data: bytes, indexes: Sequence[int], turn: int = 0) -> list[ParsedPage]:
    """Parse some pages (from 0) of a PDF, leaving out broken ones.

    `turn` is the rotation of their content, in degrees clockwise. Releases the GIL.

    Raises:
        Exception: liteparse cannot read the PDF.
    """
    parser = LiteParse(
        target_pages=",".join(str(index + 1) for index in indexes),
        max_pages=max(indexes) + 1,
        quiet=True,
        num_workers=1,
        ocr_enabled=False,
        extract_vector_graphics=True,
        emit_word_boxes=True,
        extract_annotations=True,
        include_complexity=True,
        # liteparse drops lines that repeat across pages, wherever they stand.
        keep_headers_footers=True,
        continue_on_page_error=True,
        page_orientation_corrections=[(index + 1, turn) for index in indexes] if turn else [],
    )
    pages = (fenced("parsed page", _page, page) for page in parser.parse_bytes(data).pages)
    return [fenced("crop box", cropped, page) or page for page in pages if page]


def _page(page: Any) -> ParsedPage:
    reasons = set(page.complexity.reasons)
    items = [_item(item) for item in page.text_items]
    fenced("letters set apart", join_letters, items)
    text = " ".join(item.text for item in items)
    trusted = not reasons & _UNTRUSTED and not is_garbage(text)
    said = trusted and bool(text.strip())
    graphics = page.vector_graphics
    # Each access copies them.
    strokes, shapes = (graphics.lines, graphics.shapes) if graphics else ([], [])
    size = (page.width, page.height)
    pictured = page.complexity.image_coverage > _PICTURES
    return ParsedPage(
        index=page.page_num - 1,
        width=page.width,
        height=page.height,
        items=items if trusted else [],
        links=fenced("links", _links, page.annotations) or [],
        rules=fenced("rules", drawn_rules, strokes, shapes) or [],
        shades=fenced("shades", drawn_shades, shapes) or [],
        drawings=fenced("drawings", _drawings, strokes, shapes, items, size) or [],
        trusted=trusted,
        needs_ocr=not trusted or (not said and bool(reasons & _WITHOUT_TEXT)),
        drawn=said and (pictured or bool(reasons & _WITHOUT_TEXT)),
    )


def _drawings(
    strokes: Sequence[Any],
    shapes: Sequence[Any],
    items: Sequence[TextItem],
    size: tuple[float, float],
) -> list[Box]:
    return drawings(strokes, shapes, [item.box for item in items], size) if shapes else []


def _item(item: Any) -> TextItem:
    return TextItem(
        item.text,
        item.x,
        item.y,
        item.width,
        item.height,
        item.rotation,
        item.font_name or "",
        item.font_size or 0.0,
        item.words,
    )


def _links(annotations: Sequence[Any]) -> list[Link]:
    """Return the links among a page's annotations; a link over several lines has a box for each."""
    return [
        Link(Box(rect.x, rect.y, rect.x + rect.width, rect.y + rect.height), note.uri)
        for note in annotations
        if note.uri
        for rect in note.quadpoint_rects or [note.rect]
        if rect is not None
    ]
