"""Presentations to parts: a slide is a page."""

import io
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.group import GroupShape

from carrel.server.reading.markdown.inline import address, escaped
from carrel.server.reading.office.archive import parse_xml, whole_number
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.office.web.html import parts_of_tree
from carrel.server.reading.page.lines import BULLETS
from carrel.server.reading.page.table import Cell, MarkedText, Table

log = logging.getLogger(__name__)

_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_FURNITURE = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER)
_BULLET = "*[self::a:buNone | self::a:buChar | self::a:buBlip | self::a:buAutoNum]"
_TYPED = re.compile(rf"[{BULLETS}]\s*|[-–]\s+")
_MAX_DEPTH = 20
_MAX_CATEGORIES = 10_000
"""Most rows of a chart's data; more are measurements, not read one by one."""


def slide_pages(data: bytes) -> list[list[Part]]:
    """Return the parts of every slide: its title, the rest from the top, the speaker's notes."""
    presentation = Presentation(io.BytesIO(data))
    entries = presentation._element.sldIdLst
    found = []
    # `presentation.slides` fails as a whole where one is missing.
    for number, entry in enumerate(() if entries is None else entries, 1):
        try:
            slide = presentation.part.related_slide(entry.rId)
        except KeyError:
            log.warning("slide %d of a presentation is missing in its file", number)
            continue
        shapes = _sort_shapes(slide.shapes)
        parts = _shapes(shapes, 0, _title(shapes))
        found.append([*parts, *_notes(slide), *_comments(slide.part)])
    return found


def _sort_shapes(shapes: Iterable[Any]) -> list[Any]:
    """Sort titles first, then by position, 0 where it has none; furniture is left out."""
    shown = (shape for shape in shapes if not _holds_place(shape, _FURNITURE))
    return sorted(shown, key=lambda s: (not _holds_place(s, _TITLES), s.top or 0, s.left or 0))


def _holds_place(shape: Any, kinds: Sequence[Any]) -> bool:
    return shape.is_placeholder and shape.placeholder_format.type in kinds


def _title(shapes: Iterable[Any]) -> Any:
    """Return the title among text boxes: a first line in larger type than the others."""
    texts = [shape for shape in shapes if shape._element.xpath(".//a:t")]
    found = (text._element.xpath(".//a:rPr/@sz") for text in texts)
    # In hundredths of a point; 18 points where none is said.
    sizes = [max((whole_number(size, 0) for size in each), default=1800) for each in found]
    placed = any(shape.is_placeholder for shape in texts)
    if placed or len(texts) < 2 or sizes[0] <= max(sizes[1:]):
        return None
    return texts[0] if len(texts[0]._element.xpath("p:txBody/a:p")) == 1 else None


def _shapes(shapes: Iterable[Any], depth: int, title: Any = None) -> Iterator[Part]:
    for shape in shapes:
        try:
            yield from list(_shape(shape, depth, shape is title or _holds_place(shape, _TITLES)))
        except Exception:
            # python-pptx raises anything for a part that is missing, damaged or new to it.
            log.warning("a shape of a slide cannot be read", exc_info=True)
            yield text_part("text", "", "*[a shape that cannot be read]*")


def _shape(shape: Any, depth: int, is_title: bool) -> Iterator[Part]:
    if isinstance(shape, GroupShape):
        if depth < _MAX_DEPTH:
            yield from _shapes(_sort_shapes(shape.shapes), depth + 1)
    elif getattr(shape, "has_table", False):
        table = _table(shape.table)
        yield Part("table", table=table, links=table.links)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    elif shape.has_text_frame:
        yield from _paragraphs(shape, is_title)
    elif (picture := _picture(shape)) is not None:
        yield Part("image", picture=picture)


def _chart(chart: Any) -> Iterator[Part]:
    """Yield a chart's title and its data: a row for each category, a column for each series."""
    titled = chart.has_title and chart.chart_title.has_text_frame
    if titled and (title := " ".join(chart.chart_title.text_frame.text.split())):
        yield text_part("caption", escaped(title))
    # python-pptx knows the common kinds of plots alone; their data is alike in all.
    for plot in chart._chartSpace.iterfind("{*}chart/{*}plotArea/*"):
        series = plot.findall("{*}ser")
        columns = [[*_points(one, "tx")[:1], *_points(one, "val", "yVal")] for one in series]
        names = _points(series[0], "cat", "xVal") if series else []
        height = max([len(names), *(len(column) - 1 for column in columns)], default=0)
        if not series or height > _MAX_CATEGORIES:
            continue
        if names:
            columns.insert(0, ["", *names])
        yield Part("table", table=Table.of_rows(zip_longest(*columns, fillvalue="")))


def _points(series: Any, *kinds: str) -> list[str]:
    """Return the texts or numbers that the chart stores for a series; gaps are empty."""
    found: dict[int, str] = {}
    for kind in kinds:
        # Of categories with several levels, the first holds the finest.
        for cache in series.iterfind(f"{{*}}{kind}//{{*}}pt/.."):
            for point in cache.iterfind("{*}pt") if not found else ():
                text = " ".join((point.findtext("{*}v") or "").split())
                found[int(point.get("idx", len(found)))] = text if kind == "tx" else _number(text)
    end = min(max(found, default=-1) + 1, _MAX_CATEGORIES + 1)
    # A series without a name has a heading without one.
    return [found.get(index, "") for index in range(end)] or [""] * ("tx" in kinds)


def _number(text: str) -> str:
    """Return a number without the digits that binary fractions add, any other text unchanged."""
    with suppress(ValueError):
        return f"{float(text):.12g}" if text else ""
    return text


def _picture(shape: Any) -> bytes | None:
    """Return an embedded picture, None for a linked one and any other shape."""
    with suppress(AttributeError, KeyError, ValueError):
        return bytes(shape.image.blob)
    return None


def _paragraphs(shape: Any, is_title: bool) -> Iterator[Part]:
    """Yield a title, or paragraphs and the lists between them."""
    paragraphs = [p for p in shape.text_frame.paragraphs if p.text.strip()]
    if is_title and paragraphs:
        yield text_part("title", " ".join(" ".join(p.text.split()) for p in paragraphs), "# ")
        return
    items = {-1: etree.Element("body")}
    for paragraph in paragraphs:
        items = {level: item for level, item in items.items() if level < paragraph.level}
        above, start, typed = items[max(items)], _list_start(shape, paragraph), 0
        if start is None and (mark := _TYPED.match(paragraph.text)):
            start, typed = 0, mark.end()
        if start is None:
            line = etree.SubElement(above, "p")
        else:
            kind = {"class": "ol" if start else "ul", "start": str(start)}
            if not len(above) or dict(above[-1].attrib) != kind:
                etree.SubElement(above, kind["class"], kind)
            line = items[paragraph.level] = etree.SubElement(above[-1], "li")
        for words, url in _pieces(paragraph):
            etree.SubElement(line, "a" if url else "span", href=url).text = words[typed:]
            typed = max(0, typed - len(words))
    yield from parts_of_tree(items[-1], lambda _: None)


def _list_start(shape: Any, paragraph: Any) -> int | None:
    """Return the first number of a paragraph's list, 0 for bullets, None outside a list."""
    level = f"a:lvl{paragraph.level + 1}pPr"
    looks = [(paragraph._p, "a:pPr"), (shape._element, f"*/a:lstStyle/{level}")]
    # A text box inherits nothing more; a damaged file may lack the layout.
    with suppress(AttributeError, KeyError, ValueError):
        place, layout = shape.placeholder_format.idx, shape.part.slide_layout
        looks.append((layout._element, f"*/*/p:sp[*/*/p:ph/@idx={place}]/*/*/{level}"))
        body = f"*/*/p:sp[*/*/p:ph/@type='body']/*/*/{level} | */p:bodyStyle/{level}"
        looks.append((layout.slide_master._element, body))
    for element, path in looks:
        for look in element.xpath(f"({path})/{_BULLET}"):
            start = look.get("startAt", "")
            known = start if start.isdecimal() else "buAuto" in look.tag
            return None if "buNone" in look.tag else int(known)
    return None


def _pieces(paragraph: Any) -> Iterator[tuple[str, str]]:
    """Yield a paragraph's pieces, each with its link address or an empty string."""
    runs = iter(paragraph.runs)
    for piece in paragraph._p.content_children:
        # Line breaks and fields stand between the runs, without a link.
        url = _link(next(runs)) if piece.tag.endswith("}r") else ""
        if words := piece.text.replace("\v", " ").replace("\n", " "):
            yield words, url if address(url) else ""


def _link(run: Any) -> str:
    """Return the address of a run's link, empty if it has none or the file lacks it."""
    with suppress(KeyError):
        return run.hyperlink.address or ""
    return ""


def _table(table: Any) -> Table:
    return Table.of(
        _cell(cell, row, column)
        for row, line in enumerate(table.rows)
        for column, cell in enumerate(line.cells)
        if not cell.is_spanned
    )


def _cell(cell: Any, row: int, column: int) -> Cell:
    pieces = ((*_pieces(paragraph), (" ", "")) for paragraph in cell.text_frame.paragraphs)
    text, marks = MarkedText.of(chain.from_iterable(pieces))
    return Cell(text, row, column, cell.span_height, cell.span_width, marks)


def _notes(slide: Any) -> Iterator[Part]:
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and (words := notes.text.split()):
        yield text_part("aside_text", escaped(" ".join(words)), "> ")


def _comments(part: Any) -> Iterator[Part]:
    """Yield the comments on a slide and their answers, each with its author."""
    for relation in part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/relationships/comments"):
            continue
        authors = {
            str(author.get("id")): author.get("name", "")
            for each in part.package.iter_parts()
            if str(each.partname).rpartition("/")[2] in ("commentAuthors.xml", "authors.xml")
            for author in parse_xml(each.blob)
        }
        root = parse_xml(relation.target_part.blob)
        for comment in root.iter("{*}cm", "{*}reply"):
            # The old kind has the text itself, the new one paragraphs, as shapes have.
            body = comment.iterfind("{*}txBody/{*}p")
            written = " ".join("".join(each.itertext("{*}t")) for each in body)
            words = comment.findtext("{*}text") or written
            name = authors.get(comment.get("authorId") or "", "Comment")
            if text := " ".join(words.split()):
                yield text_part("aside_text", escaped(f"{name}: {text}"), "> ")
