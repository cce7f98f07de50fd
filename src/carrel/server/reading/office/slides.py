"""Presentations to parts: a slide is a page."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.group import GroupShape

from carrel.server.reading.markdown.inline import address, escaped
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.page.marks import MarkedText
from carrel.server.reading.page.table import Cell, Table

_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_FURNITURE = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER)
_MAX_DEPTH = 20
_MAX_CATEGORIES = 10_000
"""Most rows of a chart's data; more are measurements, not read one by one."""


def slide_pages(data: bytes) -> list[list[Part]]:
    """The parts of every slide: its title, then from top to bottom, then the speaker's notes."""
    slides = Presentation(io.BytesIO(data)).slides
    return [[*_shapes(_in_order(slide.shapes), 0), *_notes(slide)] for slide in slides]


def _in_order(shapes: Iterable[Any]) -> list[Any]:
    """Sort titles first, then by position; a shape without one counts as at 0."""
    return sorted(shapes, key=lambda shape: (not _is_title(shape), shape.top or 0, shape.left or 0))


def _is_title(shape: Any) -> bool:
    return shape.is_placeholder and shape.placeholder_format.type in _TITLES


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Part]:
    for shape in shapes:
        if shape.is_placeholder and shape.placeholder_format.type in _FURNITURE:
            continue
        if isinstance(shape, GroupShape) and depth < _MAX_DEPTH:
            yield from _shapes(_in_order(shape.shapes), depth + 1)
        elif getattr(shape, "has_table", False):
            table = _table(shape.table)
            yield Part("table", table=table, links=table.links)
        elif getattr(shape, "has_chart", False):
            yield from _chart(shape.chart)
        elif shape.has_text_frame:
            yield from _paragraphs(shape)
        else:
            picture = _picture(shape)
            if picture is not None:
                yield Part("image", picture=picture)


def _chart(chart: Any) -> Iterator[Part]:
    """Yield a chart's title and its data: a row for each category, a column for each series."""
    titled = chart.has_title and chart.chart_title.has_text_frame
    if titled and (title := " ".join(chart.chart_title.text_frame.text.split())):
        yield text_part("caption", escaped(title))
    for plot in chart.plots:
        series = list(plot.series)
        names = [" ".join(str(name).split()) for name in plot.categories]
        height = max([len(names), *(len(list(one.values)) for one in series)], default=0)
        if not series or height > _MAX_CATEGORIES:
            continue
        columns = [[one.name, *map(_number, one.values)] for one in series]
        if names:
            columns.insert(0, ["", *names])
        yield Part("table", table=Table.of_rows(zip_longest(*columns, fillvalue="")))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def _picture(shape: Any) -> bytes | None:
    try:
        blob: bytes = shape.image.blob
    except (AttributeError, KeyError, ValueError):
        # Not a picture, or one that is linked, not embedded.
        return None
    return blob


def _paragraphs(shape: Any) -> Iterator[Part]:
    """Yield a title, paragraphs, or a list for a placeholder of several paragraphs."""
    paragraphs = [p for p in shape.text_frame.paragraphs if p.text.strip()]
    if _is_title(shape):
        if paragraphs:
            yield text_part("title", " ".join(" ".join(p.text.split()) for p in paragraphs), "# ")
        return
    listed = shape.is_placeholder and len(paragraphs) > 1
    text, links = ScoredText(), list[str]()
    for paragraph in paragraphs:
        if text.length:
            text.syntax("\n" if listed else "\n\n")
        if listed:
            text.syntax("  " * min(paragraph.level, 8) + "- ")
        _add_runs(text, paragraph, links)
    if text.length:
        yield Part("list" if listed else "text", text, links=tuple(links))


def _add_runs(text: ScoredText, paragraph: Any, links: list[str]) -> None:
    start = True
    for words, url in _pieces(paragraph):
        if url:
            links.append(url)
            text.syntax("[")
        text.content(escaped(words, line_start=start), ())
        if url:
            text.syntax(f"]({address(url)})")
        start = False


def _pieces(paragraph: Any) -> Iterator[tuple[str, str]]:
    """Yield a paragraph's pieces, each with its link address or an empty string."""
    # Line breaks and fields stand between the runs.
    rest = paragraph.text.replace("\v", " ").replace("\n", " ")
    for run in paragraph.runs:
        words = run.text.replace("\v", " ").replace("\n", " ")
        before, _, after = rest.partition(words) if words else ("", "", rest)
        if before:
            yield before, ""
        if words:
            url = run.hyperlink.address or ""
            yield words, url if address(url) else ""
        rest = after
    if rest:
        yield rest, ""


def _table(table: Any) -> Table:
    cells = [
        Cell(
            text,
            row,
            column,
            cell.span_height if cell.is_merge_origin else 1,
            cell.span_width if cell.is_merge_origin else 1,
            marks,
        )
        for row, line in enumerate(table.rows)
        for column, cell in enumerate(line.cells)
        if not cell.is_spanned
        for text, marks in [_cell_text(cell)]
    ]
    return Table.of(cells)


def _cell_text(cell: Any) -> MarkedText:
    pieces = ((*_pieces(paragraph), (" ", "")) for paragraph in cell.text_frame.paragraphs)
    return MarkedText.of(chain.from_iterable(pieces))


def _notes(slide: Any) -> Iterator[Part]:
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            yield text_part("aside_text", escaped(" ".join(notes.split())), "> ")
