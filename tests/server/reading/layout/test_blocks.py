"""Regions of a page that are decided by the page alone."""

import pytest

from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame

WIDTH, HEIGHT = 595.0, 842.0


def line(text: str, top: float, left: float = 125.0) -> Line:
    return Line(text, Box(left, top, left + 5 * len(text), top + 10), 10)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("3", "footer"), ("– 12 –", "footer"), ("xiv", "footer"), ("see page 3", "paragraph")],
)
def test_a_page_number_farther_from_the_edge_is_a_footer(text: str, kind: str) -> None:
    body = [line("A line of a paragraph, as wide as the text of the page is.", 120 + 12 * number)
            for number in range(30)]  # fmt: skip
    number = line(text, 0.884 * HEIGHT, left=295)
    page = page_layout(PageParts(lines=[*body, number]), PageFrame(WIDTH, HEIGHT))
    assert (page.regions[-1].text, page.regions[-1].kind) == (text, kind)
