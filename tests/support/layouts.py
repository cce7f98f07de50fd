"""Pages of text set by hand, laid out as those of a PDF are."""

from collections.abc import Iterable, Sequence

from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame, Region
from carrel.server.reading.page.parsed import Link, PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule

WIDTH, HEIGHT = 595.0, 842.0
_PROSE = """
    The reading room opens at nine and closes at eight in the evening. Every carrel has a lamp, a
    chair and a window that looks out over the garden, and readers may keep their books at the desk
    for a week if they ask for it at the counter. Those who come late find the doors closed, and
    those who leave early take the stairs at the back of the house, which lead down to the street.
"""
_BLANK = 0.28
"""Width of a blank, in type sizes."""
_APART = 36.0
"""Points between a text and the prose below it."""


def item_of(line: Line) -> TextItem:
    """A line as liteparse would give it: its letters are equally wide, but for blanks."""
    font = "Courier" if line.mono else "Helvetica"
    texts = line.text.split()
    letters = max(1, len("".join(texts)))
    blank = min(_BLANK * line.size, line.box.width / (letters + len(texts)))
    letter = (line.box.width - blank * (len(texts) - 1)) / letters
    words, left = list[PlacedWord](), line.box.left
    for text in texts:
        words.append(PlacedWord(text, left, line.box.top, letter * len(text), line.box.height))
        left += letter * len(text) + blank
    style = f"{font}-Bold" if line.bold else font
    box = line.box
    return TextItem(line.text, box.left, box.top, box.width, box.height, 0, style, line.size, words)


def laid_out(
    lines: Iterable[Line],
    rules: Sequence[Rule] = (),
    links: Sequence[Link] = (),
    *,
    prose: bool = True,
) -> list[Region]:
    """The regions of a page with these lines, without the `prose` that fills the page below."""
    lines = list(lines)
    bottom = max(line.box.bottom for line in lines) + _APART
    left = min(line.box.left for line in lines)
    body = list(_prose(left, bottom)) if prose else []
    items = [item_of(line) for line in [*lines, *body]]
    found = PageParts(PageFrame(WIDTH, HEIGHT), items, links=links, rules=rules)
    regions = page_layout(found).regions
    return [region for region in regions if region.box.top < bottom - 1]


def _prose(left: float, top: float) -> Iterable[Line]:
    """Lines of 10 points to the foot of the page, 350 points wide."""
    words = _PROSE.split() * 8
    while top < HEIGHT - 100 and words:
        count = 12
        text, words = " ".join(words[:count]), words[count:]
        yield Line(text, Box(left, top, left + 350, top + 10), 10)
        top += 12
