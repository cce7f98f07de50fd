"""PDF to pages, inside a parser: the text layer where there is one, OCR where there is none."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from carrel.server.processes.limits import allow_cpu
from carrel.server.reading.fence import fenced
from carrel.server.reading.layout.blocks import NO_EVIDENCE, PageParts, page_layout, plain_regions
from carrel.server.reading.layout.evidence import PAGES, Evidence, evidence_of
from carrel.server.reading.markdown.compose import Raster, compose
from carrel.server.reading.options import ReadOptions, UnreadableDocument, select_pages
from carrel.server.reading.page.elements import Box, Line, PageFrame, PageLayout
from carrel.server.reading.page.lines import text_turn
from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.pdf.accents import with_accents
from carrel.server.reading.pdf.drawn_text import DRAWN_DPI, drawn_text
from carrel.server.reading.pdf.forms import filled_form, with_ticks
from carrel.server.reading.pdf.formulas import with_display_formulas
from carrel.server.reading.pdf.garbage import is_garbage
from carrel.server.reading.pdf.liteparse import ReadAhead
from carrel.server.reading.pdf.page_space import PageSpace
from carrel.server.reading.pdf.pictures import embedded_pictures, figures_of, finest_picture
from carrel.server.reading.pdf.structure import tagged_parts
from carrel.server.reading.pdf.text_layer import correct_items, is_invisible
from carrel.server.reading.scans.recognition import (
    Look,
    recognise_line,
    recognise_page,
    recognise_part,
)
from carrel.wire.ocr import Page

POINTS = 72
DPI = 200
"""Pixels per inch of the boxes and dimensions of a PDF's pages."""
OCR_DPI = 170
OCR_SIDE = 2000
"""Longest side of a page in pixels that still improves OCR."""
MAX_PIXELS = 20_000_000
"""Most pixels of a rendering; a larger page is rendered at a lower resolution."""

_A4 = (595.0, 842.0)
_HEADER = b"%PDF-"
_LOCKED = "This PDF is protected by a password. Remove the password and try again."
_DAMAGED = "This file is not a valid PDF, or it is damaged. Open it in a viewer to check it."
_SECONDS_PER_PAGE = 20
_PICTURES = 0.02
"""Smallest fraction of the page covered by pictures with text worth reading."""
_SCAN, _SAMPLE = 0.8, 200
"""Least part of a page under a scan, and how many letters show whether its text is drawn."""
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u1f00-\u1fff\uac00-\ud7ff]")
"""Letters that the built-in OCR does not know: an OCR that wrote many was made for them."""


class PDF(AbstractContextManager["PDF"]):
    """An open PDF. A context manager; `pages` reads it."""

    def __init__(self, path: Path) -> None:
        try:
            self._document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            locked = "password" in str(error).lower()
            raise UnreadableDocument(_LOCKED if locked else _DAMAGED) from error
        # liteparse detects formats by file extension, and stored files have none.
        form = fenced("form", filled_form, self._document)
        data, self._fields = form or (path.read_bytes(), {})
        # liteparse takes a PDF with other data before its header for an office file.
        self._ahead = ReadAhead(data[max(0, data.find(_HEADER)) :])
        self.page_count = len(self._document)
        self._tagged = bool(raw.FPDFCatalog_IsTagged(self._document))
        self._evidence: Evidence | None = None
        self._looked_at: dict[int, PageParts] = {}
        """Pages that were looked at and not read since."""
        if self.page_count == 0:
            raise UnreadableDocument("This PDF has no pages.")

    def __exit__(self, *_: object) -> None:
        self._ahead.close()
        self._document.close()

    def pages(
        self, options: ReadOptions, look: Look, *, ahead: bool = False, beyond: bool = True
    ) -> Iterator[Page]:
        """Yield each selected page once it is read.

        `ahead` parses the likely next pages meanwhile. Without `beyond`, no other page serves as
        evidence about the selected ones.
        """
        selected = select_pages(options, self.page_count)
        following = self._next_likely(selected) if ahead else []
        for batch, coming in pairwise([*self._batches(selected), following]):
            allow_cpu(2 * _SECONDS_PER_PAGE * PAGES)
            parsed = self._ahead.take(batch)
            found = {page.index: page for page in parsed}
            if not found and all(fenced("page", self._finest, index) is None for index in batch):
                raise UnreadableDocument(_DAMAGED)
            if self._evidence is None:
                self._evidence = self._gather_evidence(found, beyond=beyond)
            self._ahead.begin(coming)
            self._look_at(found.values())
            for index in batch:
                page = fenced("page", self._page, index, found.get(index), options, look)
                yield page or self._plain_page(index, found.get(index), options)

    def picture(self, index: int) -> Image.Image:
        """Return a page in the resolution that OCR reads."""
        allow_cpu(_SECONDS_PER_PAGE)
        return self._render(index, self._ocr_dpi(index))

    def _gather_evidence(self, parsed: Mapping[int, ParsedPage], *, beyond: bool) -> Evidence:
        """Gather the document's evidence about its pages, reusing those already `parsed`."""
        first = range(min(PAGES, self.page_count))
        missing = [index for index in first if index not in parsed] if beyond else []
        pages = {**parsed, **{page.index: page for page in self._ahead.look(missing)}}
        outline = fenced("outline", self._outline) or []
        self._look_at(pages[index] for index in first if index in pages)
        looked_at = ((index, self._looked_at[index]) for index in first if index in self._looked_at)
        seen = (fenced("first page", part.as_first_page, index) for index, part in looked_at)
        return fenced("evidence", evidence_of, [*filter(None, seen)], outline) or NO_EVIDENCE

    def _look_at(self, pages: Iterable[ParsedPage]) -> None:
        """Look at pages, without what OCR would read, and keep what is found until it is read."""
        found = {}
        for page in pages:
            if all(page.size) and not page.needs_ocr and page.index not in self._looked_at:
                frame = PageFrame(*page.size, text_turn(page.items))
                if parts := fenced("page", self._collect, page, frame):
                    found[page.index] = parts
        fenced("look", PageParts.look_at, [*found.values()])
        self._looked_at |= found

    def _outline(self) -> list[tuple[str, int]]:
        """Return the bookmarks' titles and levels."""
        marks = self._document.get_toc(max_depth=6)
        return [(mark.get_title(), mark.level + 1) for mark in marks]

    def _finest(self, index: int) -> float:
        with closing(self._document[index]) as page:
            return finest_picture(page)

    def _batches(self, selected: list[int]) -> list[list[int]]:
        """Batch the pages for parsing, starting with those already begun."""
        begun = self._ahead.begun
        known = len(begun) if begun == selected[: len(begun)] else 0
        rest = (selected[at : at + PAGES] for at in range(known, len(selected), PAGES))
        return [begun, *rest] if known else [*rest]

    def _next_likely(self, selected: list[int]) -> list[int]:
        """Return the pages likely to be requested next: as many as now, at most one batch."""
        start = max(selected, default=-1) + 1
        return [*range(start, min(start + min(len(selected), PAGES), self.page_count))]

    def _page(
        self, index: int, parsed: ParsedPage | None, options: ReadOptions, look: Look
    ) -> Page:
        parsed = parsed or self._page_without_parser(index)
        if not all(parsed.size):
            return self._plain_page(index, None, options)
        frame, scans = PageFrame(*parsed.size, text_turn(parsed.items)), list[PageParts]()
        found = self._looked_at.pop(index, None)
        if not (found or parsed.needs_ocr):
            found = self._collect(parsed, frame)
        if found:
            if _shown(found.pictures, frame) > _PICTURES or parsed.drawn or parsed.unread:
                scans = fenced("drawn text", self._read_drawn, parsed, found, look) or []
        else:
            scan = fenced("recognition", self._recognise, index, parsed.size, look)
            frame, scans = (scan.frame, [scan]) if scan else (frame, [])
            own = parsed if parsed.needs_ocr else replace(parsed, items=[], trusted=False)
            found = self._collect(own, frame) or PageParts(frame)
        found = reduce(_with_scan, scans, found)
        scored = options.granularity is not None
        layout = page_layout(found, self._evidence or NO_EVIDENCE, scored=scored)
        return compose(index, layout, self._raster(index, parsed.size), options)

    def _plain_page(self, index: int, parsed: ParsedPage | None, options: ReadOptions) -> Page:
        """Return the page as the lines of its text layer, empty without one."""
        size = parsed.size if parsed else _A4
        frame, raster = PageFrame(*size), self._raster(index, size)
        regions = plain_regions(PageParts(frame, parsed.items)) if parsed else []
        page = fenced("plain page", compose, index, PageLayout(frame, regions), raster, options)
        return page or compose(index, PageLayout(frame, []), raster, options)

    def _page_without_parser(self, index: int) -> ParsedPage:
        """Return a page that liteparse left out: `_collect` takes its text from PDFium."""
        with closing(self._document[index]) as page, closing(page.get_textpage()) as text_page:
            text = text_page.get_text_range()
            said = bool(text.strip()) and not is_garbage(text)
            return ParsedPage(index, page.get_size(), trusted=said, needs_ocr=not said)

    def _collect(self, parsed: ParsedPage, frame: PageFrame) -> PageParts | None:
        """Collect what a page's file says, if its text is not another OCR's, hidden by a scan."""
        index = parsed.index
        if frame.turn:
            parsed = next(iter(self._ahead.look([index], frame.turn)), parsed)
        text, fields = (parsed.items, list[Line]()), self._fields.get(index, ())
        with closing(self._document[index]) as page:
            space = PageSpace(page, frame.turn, frame.width / page.get_width())
            pictures = fenced("pictures", embedded_pictures, page, space) or []
            tagged = fenced("tags", tagged_parts, page, space) if self._tagged else None
            if parsed.trusted:
                with closing(page.get_textpage()) as text_page:
                    scanned = parsed.items and _shown(pictures, frame) > _SCAN
                    if scanned and _is_hidden(page, text_page):
                        return None
                    text = fenced("text layer", correct_items, text[0], text_page, space) or text
                    there = (*text, page, text_page, space)
                    text = fenced("formulas", with_display_formulas, *there) or text
                    text = fenced("accents", with_accents, *text, text_page) or text
            items, rules = with_ticks(text[0], parsed.rules, fields, space)
            filled = [space.to_layout(field.bounds) for field in fields]
        figures = fenced("pictures", figures_of, pictures, parsed.drawings, frame.upright_size)
        drawn = (*(figures or ([], parsed.drawings)), parsed.shades, filled, pictures)
        found = (parsed.comments, parsed.links, rules, *drawn, *(tagged or ()))
        # OCR reads what stands in the boxes of `unread`.
        rest = [one for one in text[1] if not any(b.holds_centre(one.box) for b in parsed.unread)]
        return PageParts(frame, items, rest, *found)

    def _recognise(self, index: int, size: tuple[float, float], look: Look) -> PageParts:
        return recognise_page(self._render(index, self._ocr_dpi(index)), size, look)

    def _read_drawn(self, parsed: ParsedPage, found: PageParts, look: Look) -> list[PageParts]:
        """Read the parts of a page that are pictures of text, outside the text found."""
        index, frame = parsed.index, found.frame
        coarse = self._render(index, DRAWN_DPI, frame.turn)
        size, unread = frame.upright_size, [] if frame.turn else parsed.unread
        whole = [Box(0, 0, *size)] if parsed.drawn or parsed.unread else found.pictures
        texts, within = [*found.text_boxes, *unread], Box.around(whole)
        parts = drawn_text(coarse, texts, found.pictures, within, size[0])
        if not parts and not unread:
            return []
        fine = self._render(index, self._ocr_dpi(index), frame.turn)
        read = [recognise_part(fine, box, size, look) for box in parts]
        return read + [recognise_line(fine, box, size, look) for box in unread]

    def _ocr_dpi(self, index: int) -> float:
        """Return the highest resolution useful to OCR: on small pages that of their pictures."""
        # Use PDFium's points: liteparse's are larger on pages with a UserUnit.
        enough: float = OCR_SIDE * POINTS / max(self._document.get_page_size(index))
        if enough <= OCR_DPI:
            return max(enough, min(OCR_DPI, 2 * enough))
        return max(OCR_DPI, min(enough, POINTS * self._finest(index)))

    def _render(self, index: int, dpi: float, turn: int = 0) -> Image.Image:
        area = math.prod(self._document.get_page_size(index))
        dpi = min(dpi, POINTS * math.sqrt(MAX_PIXELS / max(1.0, area)))
        with closing(self._document[index]) as page:
            bitmap = page.render(scale=dpi / POINTS, rev_byteorder=True, prefer_bgrx=True)
            picture: Image.Image = bitmap.to_pil().convert("RGB")
            return picture.rotate(turn, expand=True) if turn else picture

    def _raster(self, index: int, size: tuple[float, float]) -> Raster:
        width, height = (max(1, round(length * DPI / POINTS)) for length in size)

        def crop(box: tuple[int, int, int, int]) -> Image.Image:
            picture = self._render(index, DPI)
            left, top, right, bottom = (edge * picture.width / width for edge in box)
            return picture.crop((round(left), round(top), round(right), round(bottom)))

        return Raster(DPI, width, height, POINTS / DPI, crop)


def _shown(pictures: Iterable[Box], frame: PageFrame) -> float:
    """Return the part of a page that pictures cover."""
    return sum(box.area for box in pictures) / math.prod(frame.upright_size)


def _is_hidden(page: Any, text_page: Any) -> bool:
    """Return whether a page's text is not drawn, or below its scan, in a script that OCR knows."""
    text, count = text_page.get_text_range(), text_page.count_chars()
    some = range(0, count, 1 + count // _SAMPLE)
    # What PDFium adds between words has no looks.
    hidden = 2 * sum(is_invisible(text_page, number) for number in some) > len(some)
    kinds = [part.type for part in page.get_objects(max_depth=1)]
    below = raw.FPDF_PAGEOBJ_IMAGE in kinds[-1:] and kinds.count(raw.FPDF_PAGEOBJ_IMAGE) == 1
    return (hidden or below) and 2 * len(_OTHER_SCRIPT.findall(text)) < sum(map(str.isalpha, text))


def _with_scan(found: PageParts, scan: PageParts) -> PageParts:
    """Return what is known of a page with what OCR read in a picture of it, or of a part of it."""
    texts, shown = found.text_boxes, found.figures
    lines = [line for line in scan.lines if not any(box.holds_centre(line.box) for box in texts)]
    figures = [figure for figure in scan.figures if not any(f.holds_centre(figure) for f in shown)]
    return replace(
        found,
        lines=[*found.lines, *lines],
        apart=[*scan.apart, *found.apart],
        rules=[*found.rules, *scan.rules],
        figures=[*shown, *figures],
    )
