"""What the layout model sees on a scan decides between headings, text, captions, running heads."""

from collections.abc import Sequence

from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame, Word
from carrel.server.reading.page.seen import ModelRegion, RegionKind

FRAME = PageFrame(595, 842)
BODY = [
    "The reading room opens at nine and closes at eight in the evening, except on",
    "Sundays. Every carrel has a lamp, a chair and a window that looks out over the",
    "garden, and readers may keep their books at the desk for a week if they ask for",
]


def line(text: str, top: float, size: float = 10) -> Line:
    width = min(450.0, 5.5 * len(text) * size / 10)
    box = Box(70, top, 70 + width, top + 1.2 * size)
    return Line(text, box, size, tuple(map(Word, text.split())))


def kinds(lines: Sequence[Line], *regions: tuple[RegionKind, float, float]) -> list[str]:
    """The kinds of a page's blocks; a region reaches over the page's width from top to bottom."""
    seen = [ModelRegion(kind, Box(60, top, 540, bottom), 0.9) for kind, top, bottom in regions]
    return [
        block.kind
        for block in page_layout(PageParts(lines=lines, regions=lambda: seen), FRAME).regions
    ]


def body(top: float) -> list[Line]:
    return [line(text, top + 14 * number) for number, text in enumerate(BODY)]


def test_a_high_line_in_the_middle_of_text_does_not_break_it() -> None:
    lines = body(200)
    lines[1] = line(BODY[1], 213, size=12)
    assert len(kinds(lines)) == 2
    assert kinds(lines, ("text", 195, 250)) == ["paragraph"]


def test_a_line_over_a_table_is_its_caption() -> None:
    lines = [*body(200), line("Seats by room", 300)]
    assert kinds(lines, ("table_caption", 295, 315)) == ["paragraph", "caption"]


def test_a_running_head_close_to_the_text_is_one_where_the_model_sees_it() -> None:
    lines = [line("Library Quarterly", 176), *body(200)]
    assert "header" not in kinds(lines)
    assert kinds(lines, ("header", 170, 192), ("text", 195, 250)) == ["header", "paragraph"]


def test_a_first_heading_is_no_running_head_though_the_model_takes_it_for_one() -> None:
    lines = [line("Rules of the Reading Room", 100, size=18), *body(200)]
    assert kinds(lines, ("header", 95, 125)) == ["heading", "paragraph"]
