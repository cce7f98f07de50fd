"""Parts of a page: boxes on the picture linked to passages of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.core.formatting import counted, percent
from carrel.store.documents.blocks import Rect, blocks_of, per_page
from carrel.store.documents.order import DOUBTFUL, has_doubtful_cells, is_order_doubtful
from carrel.store.documents.table_rows import as_markdown, rows_of

if TYPE_CHECKING:
    from carrel.wire.libraries import PageBox
    from carrel.wire.ocr import Block, Page

FAIR = 0.9
"""Confidence from which a word gets no heat."""
SUREST = 0.99
"""Highest confidence that is shown: no reading is certain."""

_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\s]*\)")

Heat = Literal["fair", "doubtful"]
"""Heat of a word or block: below FAIR or below DOUBTFUL; the others have none."""


@dataclass(frozen=True, slots=True)
class BlockBox:
    """A block's box on a page; `sure` is the confidence from 0 to 1, or None if unknown.

    `name` reads `text 2 of 9`; `words` adds the confidence. A block is doubtful for its own
    confidence, its reading order or its cells. `heat` is that of its least certain word, or its own
    if no word has a score.
    """

    block: int
    kind: str
    name: str
    rect: Rect
    sure: float | None
    doubtful: bool
    words: str
    heat: Heat | None = None


@dataclass(frozen=True, slots=True)
class TextPassage:
    """A passage of a page's Markdown, and its block if known.

    `start` is its offset in the page's Markdown, or None for text outside of it: a header, a
    footer, a separate table.
    """

    text: str
    start: int | None
    block: int | None

    def spans(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the overlap of a span of the page's Markdown with the passage, relative to
        `start`."""
        if self.start is None:
            return None
        first, last = max(start - self.start, 0), min(end - self.start, len(self.text))
        return (first, last) if first < last else None


@per_page
def boxes(page: Page) -> tuple[BlockBox, ...]:
    """Return every block with a position on the page, in reading order."""
    blocks = blocks_of(page)
    found = []
    for number, block in enumerate(blocks):
        rect = _rect(block, page)
        if rect is None:
            continue
        kind = block.type.replace("_", " ")
        name = f"{kind} {number + 1} of {len(blocks)}"
        scores = _scores(page, number)
        sure = _confidence_of(block, scores)
        disordered, miscut = is_order_doubtful(block), has_doubtful_cells(block)
        low = sum(score < DOUBTFUL for score in scores)
        words = [name, *check_words(order=disordered, cells=miscut, words=low)]
        if sure is not None and not is_from_file(page):
            words.append(f"{_percent(sure)} sure")
        if given := block.confidence_scores:
            words += parts_sure(given.order_confidence_score, given.structure_confidence_score)
        doubtful = disordered or miscut or (sure is not None and sure < DOUBTFUL)
        heat = heat_of(min(scores, default=1.0 if sure is None else sure))
        found.append(BlockBox(number, kind, name, rect, sure, doubtful, " · ".join(words), heat))
    return tuple(found)


@per_page
def passages(page: Page) -> tuple[TextPassage, ...]:
    """Return the page's text in reading order, split at its blocks' boundaries."""
    text = page.markdown
    found: list[TextPassage] = []
    at = 0
    for number, block in enumerate(blocks_of(page)):
        place = _find(block, text, at)
        if place is None:
            if block.type in ("header", "footer"):
                found.append(TextPassage(block.content, None, number))
            continue
        start, end = place
        found += _passage_between(text, at, start)
        table = _find_table(page, block)
        found.append(
            TextPassage(text[start:end], start, number)
            if table is None
            else TextPassage(table, None, number)
        )
        at = end
    found += _passage_between(text, at, len(text))
    return tuple(found)


def block_at(page: Page, place: Rect) -> int | None:
    """Return the block that overlaps a rectangle most."""
    shared = [(box.rect.overlap_area(place), box.block) for box in boxes(page)]
    most, block = max(shared, default=(0.0, -1), key=lambda one: one[0])
    return block if most > 0 else None


def rect_of(box: PageBox | None) -> Rect | None:
    """Return a passage's box in fractions of its page, or None if the page's size is unknown."""
    if box is None or not box.page_width or not box.page_height:
        return None
    edges = (box.top_left_x, box.top_left_y, box.bottom_right_x, box.bottom_right_y)
    return _scale_rect(edges, box.page_width, box.page_height)


UNREAD = "\N{REPLACEMENT CHARACTER}"
"""Placeholder for a line that OCR found but could not read."""


def missing_note(page: Page | None) -> str:
    """Return a note on missing data: `The service gives no boxes.`; empty if nothing is missing.

    Unreadable lines come first.
    """
    if page is None or not page.markdown.strip():
        return ""
    if UNREAD in page.markdown and not is_from_file(page):
        # Short: it stands in a pane's border.
        return "To read “�”, install tesseract-ocr-rus, -ell, -ara … on the server."
    missing = []
    if not any(_rect(block, page) for block in blocks_of(page)):
        missing.append("no boxes")
    if page.confidence_scores is None:
        missing.append("no scores")
    elif page.confidence_scores.word_confidence_scores is None:
        missing.append("no scores of words")
    return f"The service gives {' and '.join(missing)}." if missing else ""


def is_from_file(page: Page) -> bool:
    """Return whether all text of a page comes from the file, without OCR."""
    return page.confidence_scores is not None and bool(page.confidence_scores.text_from_file)


def has_text(page: Page) -> bool:
    """Return whether any text was found on a page; a picture on it is none."""
    return bool(_PICTURE.sub("", page.markdown).strip() or page.header or page.footer)


def check_words(*, order: bool, cells: bool, words: int) -> list[str]:
    """Return `Check: order, table cells, 3 words`, the doubtful parts, or an empty list."""
    parts = ["order"] * order + ["table cells"] * cells
    if words:
        parts.append(counted(words, "word"))
    return [f"Check: {', '.join(parts)}"] if parts else []


def sureness(pages: Sequence[Page], sure: float | None) -> str:
    """Return `98 % sure`, `text from the file`, or `no text found` for pages without text; empty if
    their confidence is unknown."""
    if pages and not any(map(has_text, pages)):
        return "no text found"
    if sure is None:
        return ""
    return "text from the file" if all(map(is_from_file, pages)) else f"{_percent(sure)} sure"


def parts_sure(order: float | None, structure: float | None) -> list[str]:
    """Return the known confidences of order and cells: `order 97 %`, `cells 91 %`."""
    known = (("order", order), ("cells", structure))
    return [f"{name} {_percent(sure)}" for name, sure in known if sure is not None]


def _percent(sure: float) -> str:
    return percent(min(sure, SUREST))


def heat_of(sure: float) -> Heat | None:
    """Return the heat of a confidence."""
    if sure >= FAIR:
        return None
    return "fair" if sure >= DOUBTFUL else "doubtful"


def _rect(block: Block, page: Page) -> Rect | None:
    edges = (block.top_left_x, block.top_left_y, block.bottom_right_x, block.bottom_right_y)
    size = page.dimensions
    if size is None or not size.width or not size.height:
        return None
    known = [edge for edge in edges if edge is not None]
    return _scale_rect(known, size.width, size.height) if len(known) == 4 else None


def _scale_rect(edges: tuple[int, ...] | list[int], width: int, height: int) -> Rect:
    left, top, right, bottom = edges
    return Rect(left / width, top / height, (right - left) / width, (bottom - top) / height)


def _confidence_of(block: Block, scores: list[float]) -> float | None:
    """Return a block's confidence: its own, else the mean of its words."""
    given = block.confidence_scores
    if given is not None and given.average_content_confidence_score is not None:
        return given.average_content_confidence_score
    return sum(scores) / len(scores) if scores else None


def _scores(page: Page, number: int) -> list[float]:
    """Return the confidence of each word of a block."""
    given = page.confidence_scores
    passage = next((one for one in passages(page) if one.block == number), None)
    if given is None or passage is None:
        return []
    return [
        word.confidence
        for word in given.word_confidence_scores or ()
        if passage.spans(word.start_index, word.start_index + len(word.text))
    ]


def _find(block: Block, text: str, at: int) -> tuple[int, int] | None:
    content = block.content.strip()
    if content and (start := text.find(content, at)) >= 0:
        return start, start + len(content)
    name = block.table_id or block.image_id
    # The same words with any white space between them.
    words = r"\s+".join(map(re.escape, content.split()))
    pattern = rf"!?\[[^\]\n]*\]\({re.escape(name)}\)" if name else words
    match = re.compile(pattern).search(text, at) if pattern else None
    return match.span() if match else None


def _find_table(page: Page, block: Block) -> str | None:
    """Return a table that the text only links to as Markdown, or None."""
    table = next((one for one in page.tables if one.id == block.table_id), None)
    return None if table is None else as_markdown(rows_of(table.content))


def _passage_between(text: str, start: int, end: int) -> Iterator[TextPassage]:
    stripped = text[start:end].strip()
    if stripped:
        first = text.index(stripped, start)
        yield TextPassage(stripped, first, None)
