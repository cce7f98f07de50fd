"""Reads the truth of a page off its twin, whose letters have a colour for every leaf."""

import ctypes
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.document import Document, Leaf, colour, number

_RTL_FREE = {"ar", "fa", "he"}


class Untrue(Exception):
    """A page whose twin does not tell it: dropped, and counted under its reason."""


@dataclass(frozen=True)
class Letter:
    text: str
    left: float
    top: float
    right: float
    bottom: float
    colour: tuple[int, int, int]
    index: int
    """Among the characters of PDFium's text page."""


@dataclass
class PageTruth:
    width: float
    height: float
    elements: list[dict[str, Any]] = field(default_factory=list)


def letters(page: pypdfium2.PdfPage) -> Iterator[Letter]:
    """Yield what is drawn of a page, without blanks; places in points from the top left corner."""
    _, height = page.get_size()
    layer = page.get_textpage()
    box = [ctypes.c_double() for _ in range(4)]
    paint = [ctypes.c_uint() for _ in range(4)]
    try:
        for index in range(pdfium.FPDFText_CountChars(layer)):
            text = chr(pdfium.FPDFText_GetUnicode(layer, index) or 0xFFFD)
            if text.isspace() or text in "\0\u00ad\ufeff\u200b\u200c\u200d\u200e\u200f\ufffe\x02":
                continue
            if pdfium.FPDFText_IsGenerated(layer, index) == 1:
                continue
            pdfium.FPDFText_GetCharBox(layer, index, *map(ctypes.byref, box))
            pdfium.FPDFText_GetFillColor(layer, index, *map(ctypes.byref, paint))
            left, right, bottom, top = (value.value for value in box)
            red, green, blue, _ = (value.value for value in paint)
            yield Letter(
                text, left, height - top, right, height - bottom, (red, green, blue), index
            )
    finally:
        layer.close()


def line_boxes(found: list[Letter]) -> list[list[float]]:
    """Return one box a line: letters go on in a line while they overlap it in height."""
    boxes: list[list[float]] = []
    for letter in found:
        if letter.right <= letter.left and letter.bottom <= letter.top:
            continue
        for box in reversed(boxes[-3:]):
            middle = (letter.top + letter.bottom) / 2
            within = (
                box[1] - 1 <= middle <= box[3] + 1
                or letter.top < (box[1] + box[3]) / 2 < letter.bottom
            )
            near = letter.left < box[2] + 60 and letter.right > box[0] - 60
            if within and near:
                box[0], box[1] = min(box[0], letter.left), min(box[1], letter.top)
                box[2], box[3] = max(box[2], letter.right), max(box[3], letter.bottom)
                break
        else:
            boxes.append([letter.left, letter.top, letter.right, letter.bottom])
    return boxes


def _bare(text: str) -> str:
    return "".join(ch for ch in unicodedata.normalize("NFKC", text) if ch.isalnum()).casefold()


def pages(
    plain: bytes, twin: bytes, document: Document, typesetter: str, dropped: dict[str, int]
) -> tuple[list[int], dict[str, Any]]:
    """Return the pages that are true (their indices), and the truth over them."""
    leaves = number(document)
    by_colour = {colour(leaf): leaf for leaf in leaves.values()}
    kept: list[int] = []
    truths: list[PageTruth] = []
    one, two = pypdfium2.PdfDocument(plain), pypdfium2.PdfDocument(twin)
    try:
        if len(one) != len(two):
            raise Untrue("twin of another length")
        for index in range(len(one)):
            try:
                truths.append(_page(one[index], two[index], by_colour, document.language))
                kept.append(index)
            except Untrue as error:
                dropped[str(error)] = dropped.get(str(error), 0) + 1
    finally:
        one.close()
        two.close()
    return kept, {
        "typesetter": typesetter,
        "language": document.language,
        "pages": [{"width": t.width, "height": t.height, "elements": t.elements} for t in truths],
    }


def _page(
    plain: pypdfium2.PdfPage,
    twin: pypdfium2.PdfPage,
    by_colour: dict[tuple[int, int, int], Leaf],
    language: str,
) -> PageTruth:
    ours, theirs = list(letters(plain)), list(letters(twin))
    if len(ours) < 12:
        raise Untrue("nearly empty page")
    if len(ours) != len(theirs) or any(
        a.text != b.text or abs(a.left - b.left) > 0.5 or abs(a.top - b.top) > 0.5
        for a, b in zip(ours, theirs, strict=True)
    ):
        raise Untrue("twin has other letters or places")
    width, height = plain.get_size()
    found: dict[int, list[Letter]] = {}
    about: dict[int, Leaf] = {}
    for letter, told in zip(ours, theirs, strict=True):
        leaf = by_colour.get(told.colour)
        if leaf is None:
            raise Untrue("letters of no known colour")
        if (
            letter.left < -1
            or letter.top < -1
            or letter.right > width + 1
            or letter.bottom > height + 1
        ):
            raise Untrue("letters beyond the page")
        found.setdefault(leaf.id, []).append(letter)
        about[leaf.id] = leaf
    truth = PageTruth(round(width, 2), round(height, 2))
    order = sorted(found, key=lambda one: _place(about[one], found[one], height))
    for rank, key in enumerate(order):
        leaf = about[key]
        text = _text(leaf, found[key], language)
        boxes = [[round(value, 2) for value in box] for box in line_boxes(found[key])]
        truth.elements.append(
            {
                "id": leaf.id,
                "role": leaf.role,
                "level": leaf.level,
                "block": leaf.block,
                "order": rank,
                "table": leaf.table,
                "row": leaf.row,
                "column": leaf.column,
                "rowspan": leaf.rowspan,
                "colspan": leaf.colspan,
                "head": leaf.head,
                "text": text,
                "boxes": boxes,
            }
        )
    no_collisions(truth.elements)
    return truth


def _place(leaf: Leaf, found: list[Letter], height: float) -> tuple[int, int]:
    """Heads first, then the text, footnotes of paragraphs, and what stands at the foot."""
    if leaf.role in {"running_head", "folio"}:
        return (0 if found[0].top < height / 2 else 3), leaf.id
    return (2 if leaf.role == "footnote" and leaf.table is None and leaf.level == 1 else 1), leaf.id


def _text(leaf: Leaf, found: list[Letter], language: str) -> str:
    """Return the source's words where all of them are here; else what is drawn.

    A text of which a part stands on another page is given by that part of the source.
    """
    drawn = _bare("".join(letter.text for letter in found))
    source = leaf.text
    if leaf.role == "folio":
        return "".join(letter.text for letter in found)
    if leaf.role == "formula":
        return source
    words = _bare(source)
    if drawn == words or sorted(drawn) == sorted(words):
        return source
    if language in _RTL_FREE:
        raise_unless = len(set(drawn) & set(words)) >= len(set(words)) * 0.6
        if not raise_unless:
            raise Untrue("other letters than the source has")
        return source if len(drawn) > 0.8 * len(words) else _part(source, drawn, words)
    if leaf.role in {"list_item", "contents_entry"} and drawn.endswith(words):
        return source
    if drawn and drawn in words:
        return _part(source, drawn, words)
    if words and words in drawn:
        return source
    without = drawn.replace("-", "")
    if len(set(without)) and sum(ch in words for ch in without) < 0.9 * len(without):
        raise Untrue("other letters than the source has")
    return _part(source, drawn, words) if len(drawn) < 0.8 * len(words) else source


def _part(source: str, drawn: str, words: str) -> str:
    """Return the stretch of the source that the drawn letters are."""
    start = max(0, words.find(drawn[:24]))
    wanted = len(drawn)
    seen = begin = 0
    for position, ch in enumerate(source):
        bare = len(_bare(ch))
        if seen <= start and bare:
            begin = position
        seen += bare
        if seen >= start + wanted:
            return source[begin : position + 1]
    return source[begin:]


def no_collisions(elements: Sequence[dict[str, Any]]) -> None:
    """Drop a page on which elements lie over each other: a table wider than its column."""
    boxes = [
        (box, element["order"])
        for element in elements
        if element["role"] not in {"formula", "figure_label"}
        for box in element["boxes"]
    ]
    boxes.sort(key=lambda pair: pair[0][1])
    struck = 0
    for index, (box, key) in enumerate(boxes):
        for other, other_key in boxes[index + 1 :]:
            if other[1] > box[3]:
                break
            if key == other_key:
                continue
            across = min(box[2], other[2]) - max(box[0], other[0])
            down = min(box[3], other[3]) - max(box[1], other[1])
            least = min(box[3] - box[1], other[3] - other[1])
            if across > 1.5 and down > 0.35 * least:
                struck += 1
    if struck > 1:
        raise Untrue("elements over each other")
