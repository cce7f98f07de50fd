"""Groups the lines of a column into headings, paragraphs, lists and code."""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from carrel.server.reading.layout.hyphens import compounds_of, ends_in_hyphen, join_lines
from carrel.server.reading.page.elements import (
    Box,
    Kind,
    Line,
    Region,
)
from carrel.server.reading.page.lines import BULLETS

_BULLET = re.compile(rf"[{BULLETS}*–—-]\s+(?=\S)")
_GLUED_BULLET = re.compile(r"[•◦▪‣●■](?=\w)")
_NUMBER = re.compile(r"\(?(\d{1,3})[.)]\s+(?=\S)")
_BARE_NUMBER = re.compile(r"(\d{1,2})\s+(?=\S)")
_LETTER = re.compile(r"\(?([a-z])[.)]\s+(?=\S)")
_MARKED = re.compile(r"[^\W\d_]?[^\w\s]|\d")
"""Start of any line with a list marker: far faster to look for than each of them."""
_LABEL = (
    r"(fig(ure|ura|\.)?|table|tab|plate|chart|graph|map|box|exhibit|diagram|abb(ildung)?|tabelle"
    r"|grafik|diagramm|tableau|graphique|tabla|gráfico|tabella|figuur|tabel)"
    r"\.?\s*([A-Z]{1,3}[. -]?)?\d+([.-]\s?\d+)*[a-z]?"
)
_CAPTION = re.compile(rf"{_LABEL}(?=[.:]|$| [–—|-] )", re.IGNORECASE)
LABELLED = re.compile(rf"{_LABEL}\b", re.IGNORECASE)
"""Start of a caption in type that stands out; in plain text such words begin sentences."""
NUMBERED = re.compile(r"\(?(\d+(\.\d+)*|[A-Z]|[IVX]+)[.):]?\s")
_SENTENCE_ENDS = tuple('.!?:;"”»)]')
_RUN_IN = re.compile(r"[.:] |\s[–—]\s")
"""End of bold words that begin a paragraph."""
_FIELD = re.compile(r"[^\W\d_][^:]{0,40}:\s+\S")
"""A label, a colon and a value."""
_HEADING_LETTERS = 200
_CODE_SIZE = 0.25
"""Largest difference in size between text and code within a sentence, as a part of the text's."""
_INDENT = 3.0
"""Largest indentation of a paragraph's first line, as a multiple of the text's size."""
_CAPTION_LINES = 4
_HANGING = 8
"""Maximum hanging indent of a numbered heading, as a multiple of its type size."""
_SAME = 0.05
"""Largest difference in size between lines of one text, as a part of it."""
_BESIDE = 4
"""Most lines between a line and the one below it: those of other columns."""
_LEVELS = ((1.7, 1), (1.35, 2), (1.12, 3))
"""Least size of each heading level, as a multiple of the text's."""


@dataclass(frozen=True)
class Style:
    """Usual text size and line gap of a page.

    `compounds` are the words hyphenated on it.
    """

    size: float
    gap: float
    compounds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Style":
        """Measures the size of most letters and the usual gap between lines of that size."""
        letters = sorted((line.size, len(line.text)) for line in lines)
        half, size = sum(count for _, count in letters) / 2, 1.0
        for line_size, count in letters:
            size = line_size
            half -= count
            if half <= 0:
                break
        text = [line for line in lines if abs(line.size - size) <= 0.1 * size]
        gaps = [
            below.box.top - above.box.bottom
            for above, below in _adjacent(text)
            if size / 2 <= below.box.top - above.box.top <= 3 * size
        ]
        gap = statistics.median_low(gaps) if gaps else 0.2 * size
        # Cap the gap: a page of few lines far apart has no usual one.
        return cls(size, min(gap, size), compounds_of(line.text for line in lines))

    def close(self, above: Line, line: Line) -> bool:
        """Whether the gap between two lines is no more than usual."""
        return line.box.top - above.box.bottom <= self.gap + 0.45 * self.size

    def level(self, line: Line) -> int:
        """Heading level of a line; 0 for text."""
        ratio = line.size / self.size
        if ratio >= _LEVELS[-1][0]:
            return next(level for least, level in _LEVELS if ratio >= least)
        return 4 if line.bold and len(line.text) <= _HEADING_LETTERS / 2 else 0


def _adjacent(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Each line with the one below it; the lines of columns side by side alternate."""
    for number, above in enumerate(lines):
        left, _, right, _ = above.box
        for below in lines[number + 1 : number + 1 + _BESIDE]:
            if below.box.left < right and left < below.box.right:
                yield above, below
                break


def regions(lines: Sequence[Line], style: Style) -> list[Region]:
    """Splits the lines of one column into blocks, from top to bottom."""
    return _Column(lines, style).regions() if lines else []


class _Column:
    """Lines one below the other, between a left and a right margin."""

    def __init__(self, lines: Sequence[Line], style: Style) -> None:
        self._style = style
        self._right = max(line.box.right for line in lines)
        self._lines = self._evened(lines)
        self._markers = _list_markers(lines)
        self._left = statistics.mode([round(line.box.left / 3) for line in lines]) * 3 + 1.5

    def _evened(self, lines: Sequence[Line]) -> list[Line]:
        """Resets to text a line that only begins in bold or as code, within a sentence."""
        evened: list[Line] = []
        for number, line in enumerate(lines):
            above, below = evened[-1] if evened else None, lines[number + 1 : number + 2]
            if line.bold and (
                (below and self._begins_in_bold(above, line, below[0]))
                or any(
                    self._are_fields(line, other)
                    for other in (*lines[max(number - 1, 0) : number], *below)
                )
            ):
                line = replace(line, bold=False)
            elif above is not None and (
                (line.mono or line.bold)
                and not (above.mono or above.bold)
                and abs(line.size - above.size) <= (_CODE_SIZE if line.mono else 0.12) * above.size
                and self._returns(above, line)
                and not (line.mono and self._parts_code(above))
                and self._style.close(above, line)
                and not self._ended(above, line)
                and not above.text.endswith(_SENTENCE_ENDS)
            ):
                line = replace(line, mono=False, bold=False, size=above.size)
            evened.append(line)
        return evened

    def _are_fields(self, line: Line, other: Line) -> bool:
        """Whether two lines are labels in bold, each with its value."""
        first, second = sorted((line, other), key=lambda each: each.box.top)
        return (
            all(each.bold and _FIELD.match(each.text) for each in (first, second))
            and abs(first.size - second.size) <= _SAME * first.size
            and abs(first.box.left - second.box.left) < 0.5 * first.size
            and self._style.close(first, second)
        )

    def _begins_in_bold(self, above: Line | None, line: Line, below: Line) -> bool:
        """Whether only the first words of a paragraph are bold: its first line is full."""
        return (
            line.bold
            and not (below.bold or below.mono)
            and not (above is not None and above.bold and self._style.close(above, line))
            and abs(line.size - below.size) <= _SAME * below.size
            and abs(line.box.left - below.box.left) < 0.5 * line.size
            and self._style.close(line, below)
            and not self._ended(line, below)
            and not line.text.endswith(_SENTENCE_ENDS)
            and (below.text[:1].islower() or _RUN_IN.search(line.text) is not None)
        )

    def _returns(self, above: Line, line: Line) -> bool:
        """Whether a line begins where the one above does; code, also where that is indented."""
        back = (above.box.left - line.box.left) / self._style.size
        return -0.5 < back < (_INDENT if line.mono else 0.5)

    def _parts_code(self, above: Line) -> bool:
        """Whether code below a line stands apart from it; code is not hyphenated."""
        return bool(self._style.level(above)) or ends_in_hyphen(above.text)

    def regions(self) -> list[Region]:
        """The blocks from top to bottom."""
        blocks = [[0]]
        for number in range(1, len(self._lines)):
            if self._begins(blocks[-1], number):
                blocks.append([])
            blocks[-1].append(number)
        return _levelled(self._rejoined([self._region(block) for block in blocks]), self._style)

    def _begins(self, block: list[int], number: int) -> bool:
        """Whether a line begins a new block."""
        line, above, style = self._lines[number], self._lines[number - 1], self._style
        if number in self._markers or line.mono != above.mono:
            return True
        gap = line.box.top - above.box.bottom
        if line.mono:
            return gap > style.gap + 1.5 * line.size
        if _CAPTION.match(line.text):
            return True
        if self._goes_on_caption(block, line):
            return False
        level = style.level(line)
        # Only its marker may make an item's first line larger.
        item = block[0] in self._markers and line.size <= above.size and not line.bold
        changed = level != style.level(above) or abs(line.size - above.size) > 0.12 * above.size
        if changed and not item:
            return True
        if level and not item:
            return len(block) >= 3 or not self._same_heading(above, line, gap)
        if not style.close(above, line):
            return True
        return self._begins_text(block, number)

    def _goes_on_caption(self, block: list[int], line: Line) -> bool:
        """Whether a line continues a caption above that stands out like it."""
        first, above = self._lines[block[0]], self._lines[block[-1]]
        return (
            len(block) < _CAPTION_LINES
            and line.bold
            and LABELLED.match(first.text) is not None
            and (_CAPTION.match(first.text) is not None or bool(self._style.level(first)))
            and abs(line.size - above.size) <= 0.2 * above.size
            and line.box.left >= first.box.left - 0.5 * line.size
            and line.box.top - above.box.bottom <= 0.5 * line.size
        )

    def _same_heading(self, above: Line, line: Line, gap: float) -> bool:
        """Whether a line continues the heading above it."""
        if gap > self._style.gap + 0.8 * line.size:
            return False
        near = 0.5 * line.size
        left = abs(above.box.left - line.box.left) < near
        centred = abs(above.box.centre[0] - line.box.centre[0]) < near
        labelled = NUMBERED.match(above.text) or LABELLED.match(above.text)
        hangs = labelled and 0 < line.box.left - above.box.left < _HANGING * line.size
        return left or centred or bool(hangs and not NUMBERED.match(line.text))

    def _begins_text(self, block: list[int], number: int) -> bool:
        """Whether a line of text close below another begins a new block."""
        line, above = self._lines[number], self._lines[number - 1]
        size = self._style.size
        if block[0] in self._markers:
            # Text that returns to the margin ends the list.
            edge = self._lines[block[0]].box.left + 0.3 * size
            return line.box.left <= edge and self._ended(above, line)
        below = self._lines[number + 1] if number + 1 < len(self._lines) else None
        if (
            self._ended(above, line)
            and not line.text[:1].islower()
            and below is not None
            and self._style.close(line, below)
            and not self._ended(line, below)
        ):
            # A short line above full ones: a heading, or the end of a paragraph.
            return True
        margin = self._left + 0.7 * size
        aligned = len(block) > 1 and abs(line.box.left - above.box.left) < 0.5 * size
        hangs = line.text[:1].islower() and not self._ended(above, line)
        return line.box.left > margin >= above.box.left and not aligned and not hangs

    def _ended(self, above: Line, line: Line) -> bool:
        """Whether the break of the line above is deliberate: the next word would have fitted."""
        if ends_in_hyphen(above.text):
            return False
        word = line.text.split(" ", 1)[0]
        letter = line.box.width / max(1, len(line.text))
        return self._right - above.box.right > letter * (len(word) + 2)

    def _short(self, line: Line) -> bool:
        """Whether a line is so short that the next begins another entry, not a continuation."""
        return 3 * line.box.width < self._right - self._left

    def _region(self, block: list[int]) -> Region:
        lines = [self._lines[number] for number in block]
        box, kept = Box.around(line.box for line in lines), tuple(lines)
        text = self._joined(lines)
        marker = self._markers.get(block[0])
        if marker is not None:
            item = text[len(marker) :].strip()
            return Region("list_item", box, item, marker=marker.strip(), lines=kept)
        if lines[0].mono:
            return Region("code", box, _verbatim(lines), lines=kept)
        level = self._style.level(lines[0])
        if level and LABELLED.match(text):
            return Region("caption", box, text, lines=kept)
        if level and self._is_heading(lines, text):
            return Region("heading", box, text, level=level, lines=kept)
        return self._paragraph(lines)

    def _is_heading(self, lines: Sequence[Line], text: str) -> bool:
        """Whether text that stands out is a heading; slightly larger or isolated, it may not be."""
        if len(text) > _HEADING_LETTERS or not any(map(str.isalpha, text)):
            return False
        plain = not lines[0].bold and lines[0].size < _LEVELS[1][0] * self._style.size
        return not plain or not (text[:1].islower() or text.endswith((".", ",", ";", ":")))

    def _joined(self, lines: Sequence[Line]) -> str:
        return join_lines(lines, self._style.compounds)

    def _paragraph(self, lines: list[Line]) -> Region:
        """A paragraph; keeps deliberate line breaks."""
        parts = [[lines[0]]]
        for above, line in pairwise(lines):
            apart = not line.text[:1].islower() or self._short(above)
            if apart and self._ended(above, line):
                parts.append([])
            parts[-1].append(line)
        text = "\n".join(map(self._joined, parts))
        kind: Kind = "caption" if _CAPTION.match(text) else "paragraph"
        return Region(kind, Box.around(line.box for line in lines), text, lines=tuple(lines))

    def _rejoined(self, found: list[Region]) -> list[Region]:
        """Merges a first line in large letters with its paragraph."""
        rejoined: list[Region] = []
        for region in found:
            above = rejoined[-1] if rejoined else None
            if (
                above is not None
                and above.kind == "heading"
                and region.kind == "paragraph"
                and region.text[:1].islower()
                and self._style.close(above.lines[-1], region.lines[0])
            ):
                rejoined[-1] = self._paragraph([*above.lines, *region.lines])
            else:
                rejoined.append(region)
        return rejoined


def _list_markers(lines: Sequence[Line]) -> dict[int, str]:
    """The markers of list items, by line number."""
    markers = {}
    marked = [
        (number, line)
        for number, line in enumerate(lines)
        if _MARKED.match(line.text) and not line.mono
    ]
    for number, line in marked:
        match = _BULLET.match(line.text) or _GLUED_BULLET.match(line.text)
        if match:
            markers[number] = match[0]
    for pattern in (_NUMBER, _LETTER, _BARE_NUMBER):
        matches = [
            (number, match)
            for number, line in marked
            if number not in markers and (match := pattern.match(line.text))
        ]
        values = [int(m[1]) if m[1].isdigit() else ord(m[1]) for _, m in matches]
        for place, ((number, match), value) in enumerate(zip(matches, values, strict=True)):
            rising = place + 1 < len(values) and values[place + 1] == value + 1
            risen = place > 0 and values[place - 1] == value - 1
            # Bare numbers begin many ordinary lines: in a list they must count from one.
            counted = pattern is not _BARE_NUMBER or _counts_from_one(values, place)
            if (rising or risen) and counted and not lines[number].bold:
                markers[number] = match[0]
    return markers


def _counts_from_one(values: list[int], place: int) -> bool:
    while place > 0 and values[place] > 1:
        if values[place - 1] != values[place] - 1:
            return False
        place -= 1
    return values[place] == 1


def _verbatim(lines: list[Line]) -> str:
    """Code with its indentation."""
    left = min(line.box.left for line in lines)
    letter = statistics.median(line.box.width / max(1, len(line.text)) for line in lines) or 1
    text = []
    for above, line in pairwise([lines[0], *lines]):
        skipped = (line.box.top - above.box.top) / max(1.0, line.size)
        if line is not above and skipped > 2:
            text.append("")
        text.append(" " * round((line.box.left - left) / letter) + line.text)
    return "\n".join(text)


def _levelled(found: list[Region], style: Style) -> list[Region]:
    """Sets the depth of list items by their indentation."""
    levelled: list[Region] = []
    edges: list[float] = []
    for region in found:
        if region.kind != "list_item":
            edges = []
            levelled.append(region)
            continue
        edge = region.lines[0].box.left
        while edges and edge < edges[-1] - style.size / 2:
            edges.pop()
        if not edges or edge > edges[-1] + style.size / 2:
            edges.append(edge)
        levelled.append(replace(region, level=len(edges) - 1))
    return levelled
