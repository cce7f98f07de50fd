"""Boxes of text joined by lines are a diagram; cells of a table and fields of a form are not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.layout.diagrams import diagrams
from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page_model.network import PageView
from carrel.server.reading.tables.decode import PageReading
from carrel.wire.ocr import Block
from server.reading.conftest import Read
from support.documents import page_pictures

pytestmark = pytest.mark.asyncio(loop_scope="module")

_PROSE = "The reading room is open to every reader who returns the books on time."
_BOXES = (("A reader", "asks for a book"), ("The archive", "looks for it"), ("A lamp", "is lit"))
_LABELS = [" ".join(lines) for lines in _BOXES]


def _prose(canvas: Canvas, top: float) -> None:
    canvas.setFont("Helvetica", 10)
    for number in range(6):
        canvas.drawString(72, top - 12 * number, _PROSE)


def _arrow(canvas: Canvas, start: float, end: float, y: float) -> None:
    canvas.line(start, y, end - 5, y)
    path = canvas.beginPath()
    path.moveTo(end, y)
    path.lineTo(end - 6, y + 3)
    path.lineTo(end - 6, y - 3)
    path.close()
    canvas.drawPath(path, fill=1)


def _flow_chart(canvas: Canvas) -> None:
    """Prose, and three boxes at unlike heights, joined by arrows that touch them."""
    _prose(canvas, 760)
    for number, lines in enumerate(_BOXES):
        left, bottom = 80 + 150 * number, 600 + 4 * number
        canvas.rect(left, bottom, 110, 34)
        canvas.setFont("Helvetica", 9)
        for row, text in enumerate(lines):
            canvas.drawCentredString(left + 55, bottom + 20 - 11 * row, text)
        if number:
            _arrow(canvas, left - 40, left, 617)
    canvas.setFont("Helvetica", 9)
    canvas.drawString(72, 570, "Figure 1: How a book is lent")
    _prose(canvas, 540)


async def _blocks(path: Path, read: Read) -> list[Block]:
    blocks = (await read(path, include_blocks=True)).pages[0].blocks
    assert blocks is not None
    return blocks


async def _drawn(tmp_path: Path, read: Read, draw: Callable[[Canvas], None]) -> list[Block]:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    draw(canvas)
    canvas.save()
    return await _blocks(tmp_path / "a.pdf", read)


@pytest.mark.xfail(reason="the page model takes boxes of a flow chart for text")
async def test_a_flow_chart_is_a_figure_and_each_box_a_label(tmp_path: Path, read: Read) -> None:
    blocks = await _drawn(tmp_path, read, _flow_chart)
    assert [block.type for block in blocks] == ["text", "image", "aside_text", "caption", "text"]
    assert blocks[2].content.splitlines() == _LABELS


@pytest.mark.xfail(reason="the page model takes boxes of a flow chart for text")
async def test_a_scanned_flow_chart_is_a_figure(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _flow_chart(canvas)
    canvas.save()
    page_pictures(tmp_path / "a.pdf")[0].save(tmp_path / "a.png")
    blocks = await _blocks(tmp_path / "a.png", read)
    assert [block.type for block in blocks] == ["text", "image", "aside_text", "caption", "text"]
    assert blocks[2].content.splitlines() == _LABELS


async def test_a_line_with_bends_and_branches_joins_boxes(tmp_path: Path, read: Read) -> None:
    def draw(canvas: Canvas) -> None:
        for name, left, bottom in (("Library", 200, 640), ("Hall", 100, 540), ("Desk", 300, 540)):
            canvas.rect(left, bottom, 80, 24)
            canvas.drawString(left + 10, bottom + 8, name)
        canvas.line(240, 640, 240, 600)
        canvas.line(140, 600, 340, 600)
        for x in (140, 340):
            canvas.line(x, 600, x, 564)

    blocks = await _drawn(tmp_path, read, draw)
    assert [block.type for block in blocks] == ["image", "aside_text"]
    assert blocks[1].content.splitlines() == ["Library", "Hall", "Desk"]


async def test_tables_beside_each_other_are_no_diagram(tmp_path: Path, read: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.line(50, 660, 540, 660)
        for left in (72, 320):
            for row in range(4):
                for column in range(2):
                    x, y = left + 100 * column, 600 - 20 * row
                    canvas.rect(x, y, 100, 20)
                    canvas.drawString(x + 5, y + 6, f"Hall {row}" if column else f"Row {row}")
        canvas.line(272, 610, 320, 610)

    assert {block.type for block in await _drawn(tmp_path, read, draw)} == {"table"}


async def test_fields_of_a_form_beside_a_line_are_no_diagram(tmp_path: Path, read: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for number, name in enumerate(("Name of the reader", "Number of the card")):
            canvas.rect(72, 600 - 60 * number, 300, 24)
            canvas.drawString(78, 608 - 60 * number, name)
        canvas.line(60, 520, 60, 640)

    assert "image" not in [block.type for block in await _drawn(tmp_path, read, draw)]


def _map() -> Image.Image:
    """A picture of a map: coloured areas, a river and streets."""
    picture = Image.new("RGB", (900, 600), "#dfe8d0")
    draw = ImageDraw.Draw(picture)
    for number in range(7):
        left, top = 120 * number + 20, 90 * (number % 5) + 40
        draw.ellipse((left, top, left + 150, top + 110), fill=(150, 120 + 15 * number, 90))
        draw.line((0, 90 * number, 900, 80 * number + 60), fill="#886644", width=5)
    draw.line([(40 * x, 300 + 60 * (x % 3)) for x in range(24)], fill="#4477cc", width=16)
    return picture


def _labelled_map(canvas: Canvas) -> None:
    _prose(canvas, 760)
    canvas.drawInlineImage(_map(), 120, 440, 340, 226)
    canvas.setFont("Helvetica", 8)
    for number, name in enumerate(("North hall", "Archive", "River", "Reading room")):
        canvas.drawString(150 + 60 * number, 630 - 45 * number, name)
    canvas.setFont("Helvetica", 9)
    canvas.drawCentredString(290, 424, "Figure 2: The halls by the river")
    _prose(canvas, 396)


async def test_names_on_a_map_belong_to_it(tmp_path: Path, read: Read) -> None:
    blocks = await _drawn(tmp_path, read, _labelled_map)
    assert [block.type for block in blocks] == ["text", "image", "aside_text", "caption", "text"]
    assert blocks[2].content.splitlines() == ["North hall", "Archive", "River", "Reading room"]


@pytest.mark.xfail(reason="the page model takes some names on a scanned map for text")
async def test_names_on_a_scanned_map_belong_to_it(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    _labelled_map(canvas)
    canvas.save()
    page_pictures(tmp_path / "a.pdf")[0].save(tmp_path / "a.png")
    blocks = await _blocks(tmp_path / "a.png", read)
    assert [block.type for block in blocks] == ["text", "image", "aside_text", "caption", "text"]
    assert "Archive" in blocks[2].content.splitlines()


async def test_a_title_on_a_picture_that_is_no_figure_stays_a_heading(
    tmp_path: Path, read: Read
) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawInlineImage(Image.new("RGB", (480, 60), "navy"), 60, 740, 480, 60)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(72, 762, "News of the reading room")
        canvas.setFillGray(0)
        _prose(canvas, 700)

    blocks = await _drawn(tmp_path, read, draw)
    assert [block.content for block in blocks if block.type == "title"] == [
        "# News of the reading room"
    ]


def _frame(left: float, top: float, right: float, bottom: float) -> list[Rule]:
    across = [Rule(True, y, left, right) for y in (top, bottom)]
    return [*across, *(Rule(False, x, top, bottom) for x in (left, right))]


@pytest.mark.parametrize(("between", "found"), [(2, 1), (8, 0)])
async def test_rows_between_a_head_and_notes_in_frames_are_a_table(
    between: int, found: int
) -> None:
    rules = [*_frame(20, 70, 250, 95), *_frame(20, 176, 250, 255), Rule(False, 130, 95, 176)]
    tops = [78, 180, 200, *(100 + 9 * number for number in range(between))]
    lines = [Line("A text", Box(30, top, 80, top + 8), 8) for top in tops]
    none = np.zeros(0)
    unseen = PageView(none, none, none, np.zeros(0, int))
    assert len(diagrams(rules, PageReading(lines, unseen))) == found
