"""PDF pages parsed by liteparse, cut at their crop box, some ahead of need."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

# Use the private class: the public one copies each word into Python objects, a fifth of a page's
# time. The version is pinned; tests/server/reading/pdf/test_liteparse.py checks this import.
from liteparse._liteparse import LiteParse

from carrel.server.reading.fence import fenced
from carrel.server.reading.page.drawings import drawings, has_outlines
from carrel.server.reading.page.elements import Box, Line, join_boxes
from carrel.server.reading.page.letter_spacing import join_letters
from carrel.server.reading.page.parsed import Link, ParsedPage, TextItem
from carrel.server.reading.page.rules import Rule, drawn_rules, drawn_shades, unmarked
from carrel.server.reading.pdf.garbage import count_unmapped, is_garbage, is_unmapped

_SOUND = 0.8
"""Smallest fraction of a page's text in sound fonts for which the others are read by OCR."""
_SIGNS = 4
"""Most letters of the usual text in a font of signs, such as the parts of tall brackets."""
_COMMENTS = frozenset({
    "text", "freetext", "highlight", "underline", "squiggly", "strikeout", "caret",
})  # fmt: skip


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
        # liteparse drops lines that repeat across pages, wherever they stand.
        keep_headers_footers=True,
        continue_on_page_error=True,
        page_orientation_corrections=[(index + 1, turn) for index in indexes] if turn else [],
    )
    pages = (fenced("parsed page", _page, page) for page in parser.parse_bytes(data).pages)
    return [fenced("crop box", crop_page, page) or page for page in pages if page]


def _page(page: Any) -> ParsedPage:
    items = [_item(item) for item in page.text_items]
    fenced("letters set apart", join_letters, items)
    text = " ".join(item.text for item in items)
    # A stamp in a broken font spoils no other text.
    items, broken = _part_by_font(items) if count_unmapped(text) else (items, [])
    rest = " ".join(item.text for item in items) if broken else text
    garbage = is_garbage(rest) or len(rest) < _SOUND * len(text)
    boxes = () if garbage else (item.box for item in broken)
    unread = join_boxes(boxes, lambda one, box: 2 * one.shared_height(box) > box.height)
    said = not garbage and bool(rest.strip())
    graphics, size = page.vector_graphics, (page.width, page.height)
    # Each access copies them.
    strokes, shapes = (graphics.lines, graphics.shapes) if graphics else ([], [])
    marked = fenced("marks", unmarked, strokes, shapes, (item.box for item in items))
    strokes, shapes = marked or (strokes, shapes)
    shades = fenced("shades", drawn_shades, shapes) or []
    return ParsedPage(
        index=page.page_num - 1,
        size=size,
        items=items if said else [],
        links=fenced("links", _links, page.annotations) or [],
        comments=fenced("comments", _comments, page.annotations) or [],
        rules=fenced("rules", drawn_rules, strokes, shapes) or [],
        shades=shades,
        drawings=fenced("drawings", drawings, strokes, shapes, items, size) or [],
        trusted=not garbage,
        needs_ocr=not said,
        drawn=said and has_outlines(strokes, shades),
        unread=unread,
    )


def _item(item: Any) -> TextItem:
    place = (item.x, item.y, item.width, item.height, item.rotation)
    return TextItem(item.text, *place, item.font_name or "", item.font_size or 0.0, item.words)


def _part_by_font(items: Sequence[TextItem]) -> tuple[list[TextItem], list[TextItem]]:
    """Part the items from those in fonts that know few letters, other than fonts of signs."""
    texts = defaultdict[str, list[str]](list)
    for item in items:
        texts[item.font].append(item.text)
    whole = ((font, "".join(all), _SIGNS * len(all)) for font, all in texts.items())
    broken = {font for font, text, most in whole if len(text) > most and is_unmapped(text)}
    return [i for i in items if i.font not in broken], [i for i in items if i.font in broken]


def _links(annotations: Sequence[Any]) -> list[Link]:
    """Return the links among a page's annotations; a link over several lines has a box for each."""
    return [
        Link(Box.of(rect), note.uri)
        for note in annotations
        if note.uri
        for rect in note.quadpoint_rects or [note.rect]
        if rect is not None
    ]


def _comments(annotations: Sequence[Any]) -> list[Line]:
    """Return the comments among a page's annotations, each with its author."""
    found = []
    for note in annotations:
        said = " ".join((note.contents or "").split())
        if said and note.rect is not None and note.subtype in _COMMENTS:
            box = Box.of(note.rect)
            found.append(Line(f"{note.title}: {said}" if note.title else said, box, box.height))
    return found


_BLEED = 1.0
"""Points. Anything reaches so far beyond the page: its box is a little larger than its ink."""


def crop_page(page: ParsedPage) -> ParsedPage:
    """Return the page without words, links, rules and drawings beyond its edges."""
    edges = Box(0, 0, *page.size)
    return replace(
        page,
        items=[kept for item in page.items if (kept := _crop_item(item, edges))],
        links=[link for link in page.links if edges.holds_centre(link.box)],
        rules=list(_cut_rules(page.rules, edges)),
        drawings=[box for box in page.drawings if edges.holds_centre(box)],
    )


def _crop_item(item: TextItem, page: Box) -> TextItem | None:
    """Return an item without the words beyond the page, or None if none is left."""
    if page.contains(item.box, _BLEED):
        return item
    inside = [word for word in item.words if page.holds_centre(Box.of(word))]
    if len(inside) == len(item.words):
        return item if inside or page.holds_centre(item.box) else None
    if not inside:
        return None
    whole = Box.around(map(Box.of, inside))
    text = " ".join(word.text for word in inside)
    place = (whole.left, whole.top, whole.width, whole.height)
    return TextItem(text, *place, item.rotation, item.font, item.size, inside)


def _cut_rules(rules: Iterable[Rule], page: Box) -> Iterable[Rule]:
    for rule in rules:
        at, along = (page.bottom, page.right) if rule.across else (page.right, page.bottom)
        start, end = max(0.0, rule.start), min(along, rule.end)
        if 0 <= rule.at <= at and start < end:
            yield rule._replace(start=start, end=end)


class ReadAhead:
    """Parse pages of one PDF, one request at a time: PDFium is not thread-safe."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._thread = ThreadPoolExecutor(1)
        self._coming: Future[list[ParsedPage] | None] | None = None
        self.begun: list[int] = []
        """Pages being parsed, or parsed and not yet taken."""

    def begin(self, indexes: list[int]) -> None:
        """Start parsing pages that are, or may be, needed next."""
        self.begun = indexes
        self._coming = self._parse(indexes) if indexes else None

    def take(self, indexes: list[int]) -> list[ParsedPage]:
        """Return the pages once they are parsed, without broken ones."""
        coming = self._coming if self.begun == indexes else None
        self.begun, self._coming = [], None
        return (coming or self._parse(indexes)).result() or []

    def look(self, indexes: list[int], turn: int = 0) -> list[ParsedPage]:
        """Parse pages needed besides those already begun, with content that is turned so far."""
        return self._parse(indexes, turn).result() or [] if indexes else []

    def close(self) -> None:
        """Cancel queued requests; do not await the running one, whose file may be hostile."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _parse(self, indexes: list[int], turn: int = 0) -> Future[list[ParsedPage] | None]:
        return self._thread.submit(fenced, "parser", parse_pages, self._data, indexes, turn)
