"""A step of reading that fails costs that step, never the page."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from carrel.server.reading import fence
from carrel.server.reading.layout import blocks
from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.page.elements import Box, Line, PageFrame, Word
from carrel.server.reading.page.parsed import Link, PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page_model.features import (
    PageFeatures,
    Surroundings,
    page_features,
)
from server.reading.conftest import Read
from support.documents import raw_pdf

WIDTH, HEIGHT = 595.0, 842.0
PLACE = st.floats(-50, 900) | st.integers(0, 84).map(lambda n: n * 10.0)
SIZE = st.floats(0, 300) | st.sampled_from([0.0, 5.0, 10.0, 12.0, 60.0])
WORDS = ["a", "of", "12", "3.4", "1", "2", "2.", "•", "Table", "Contents", "…", "reading", "–", "*"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join) | st.just("")


@pytest.fixture(autouse=True)
def _no_failures() -> None:
    fence.take_failures()


@st.composite
def items(draw: st.DrawFn) -> TextItem:
    text, x, y, width, height = draw(st.tuples(TEXT, PLACE, PLACE, SIZE, SIZE))
    texts = text.split()
    each = width / max(1, len(texts))
    words = [PlacedWord(word, x + n * each, y, 0.9 * each, height) for n, word in enumerate(texts)]
    if draw(st.booleans()):
        words.reverse()
    size = draw(st.sampled_from([0.0, height, 10.0, 24.0]))
    rotation = draw(st.sampled_from([0.0, 0.0, 0.0, 90.0, 45.0, 180.0]))
    font = draw(st.sampled_from(["", "Times-Bold", "Courier", "CMMI10"]))
    return TextItem(text, x, y, width, height, rotation, font, size, words)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    text, x, y, width, height = draw(st.tuples(TEXT, PLACE, PLACE, SIZE, SIZE))
    texts = text.split()
    each = width / max(1, len(texts))
    read = tuple(
        Word(word, draw(st.floats(0, 1)), (x + n * each, x + 0.9 * (n + 1) * each))
        for n, word in enumerate(texts)
    )
    read = read[::-1] if draw(st.booleans()) else read
    return Line(text, Box(x, y, x + width, y + height), height, read)


@st.composite
def grids(draw: st.DrawFn) -> list[Line]:
    """Words in rows and columns, some of them away from their place or missing."""
    across = draw(st.lists(PLACE, min_size=1, max_size=5))
    found = []
    for row in range(draw(st.integers(2, 12))):
        for left in across:
            text, shift = draw(TEXT), draw(st.sampled_from([0.0, 0.0, 0.0, -3.0, 8.0, 40.0]))
            edges = (left + shift, left + shift + draw(st.sampled_from([5.0, 20.0, 60.0, -20.0])))
            box = Box(min(edges), 100 + 12.0 * row, max(edges), 110 + 12.0 * row)
            found.append(Line(text, box, 10.0, (Word(text, 0.9, edges),)))
    return found


def _signs(texts: Iterable[str]) -> Counter[str]:
    """The letters and digits of some texts."""
    return Counter(sign for text in texts for sign in text if sign.isalnum())


BOXES = st.builds(lambda x, y, w, h: Box(x, y, x + w, y + h), PLACE, PLACE, SIZE, SIZE)
RULES = st.builds(
    lambda across, at, start, length, faint: Rule(across, at, start, start + length, faint),
    *(st.booleans(), PLACE, PLACE, SIZE, st.booleans()),
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(items(), max_size=25),
    st.lists(lines(), max_size=12) | grids(),
    st.lists(RULES, max_size=12),
    st.lists(BOXES, max_size=3),
)
def test_no_step_fails_and_no_text_is_lost_on_any_page(
    found: list[TextItem],
    read: list[Line],
    rules: list[Rule],
    boxes: list[Box],
) -> None:
    links = [Link(box, "https://example.org") for box in boxes]
    frame = PageFrame(WIDTH, HEIGHT)
    parts = PageParts(frame, found, read, (), links, rules, boxes[:1], boxes[1:])
    page = page_layout(parts, scored=True)
    assert [failure.trace for failure in fence.take_failures()] == []
    texts = [piece.text for piece in parts.reading.pieces] if parts.reading else []
    said = [f"{region.marker}{region.text}" for region in page.regions]
    said += [cell.text for region in page.regions if region.table for cell in region.table.cells]
    assert _signs(texts) <= _signs(said)


@pytest.mark.parametrize(
    ("step", "kinds"),
    [
        ("find_tables", ["heading", "paragraph"]),
        ("with_notes", ["heading", "paragraph", "table"]),
        ("reading_order", ["paragraph", "table"]),
        ("text_blocks", ["paragraph"]),
    ],
)
def test_a_step_that_fails_costs_that_step(
    step: str, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise IndexError(step)

    monkeypatch.setattr(blocks, step, fails)
    texts = [
        (72, 120, "Rooms", 20),
        (72, 160, "The rooms are open to all readers of the house.", 10),
    ]
    texts += [
        (72 + 120 * column, 200 + 14 * row, text, 10)
        for row, cells in enumerate([["Room", "Seats", "Floor"], ["North", "24", "1"]] * 3)
        for column, text in enumerate(cells)
    ]
    page = page_layout(PageParts(PageFrame(WIDTH, HEIGHT), [_item(*text) for text in texts]))
    assert list(dict.fromkeys(region.kind for region in page.regions)) == kinds
    said = " ".join(
        " ".join(cell.text for cell in region.table.cells) if region.table else region.text
        for region in page.regions
    )
    assert sorted(said.split()) == sorted(" ".join(text for _, _, text, _ in texts).split())
    [failure] = fence.take_failures()
    assert failure.cause.startswith("IndexError in test_fence.py:")
    assert fence.take_failures() == []


def test_a_page_that_cannot_be_looked_at_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def looked_at(pages: list[tuple[list[list[Line]], Surroundings]]) -> list[PageFeatures]:
        assert all(rows[0][0].text != "Broken" for rows, _ in pages)
        return page_features(pages)

    monkeypatch.setattr(blocks, "page_features", looked_at)
    frame = PageFrame(WIDTH, HEIGHT)
    good, broken = (PageParts(frame, [_item(72, 200, text, 20)]) for text in ("Rooms", "Broken"))
    fence.fenced("look", PageParts.look_at, [good, broken])
    assert [region.text for region in page_layout(good).regions] == ["Rooms"]
    assert [region.text for region in page_layout(broken).regions] == ["Broken"]
    assert [failure.step for failure in fence.take_failures()] == ["look", "layout"]


def _item(x: float, y: float, text: str, size: float) -> TextItem:
    width = 0.5 * size * len(text)
    words, left = [], x
    for word in text.split():
        words.append(PlacedWord(word, left, y, 0.5 * size * len(word), size))
        left += 0.5 * size * (len(word) + 1)
    return TextItem(text, x, y, width, size, 0.0, "Times", size, words)


@pytest.mark.asyncio(loop_scope="module")
async def test_data_before_the_header_and_pages_without_size_are_no_obstacle(
    tmp_path: Path, read: Read
) -> None:
    content = b"BT /F1 24 Tf 20 200 Td (Heron) Tj ET"
    (tmp_path / "a.pdf").write_bytes(b"Some junk\n" + raw_pdf(content))
    reading = await read(tmp_path / "a.pdf")
    assert [page.markdown for page in reading.pages] == ["# Heron"]
    (tmp_path / "b.pdf").write_bytes(raw_pdf(content, page=b"/CropBox[10 10 10 10]"))
    reading = await read(tmp_path / "b.pdf")
    assert len(reading.pages) == 1
