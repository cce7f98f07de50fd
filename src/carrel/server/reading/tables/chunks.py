"""Chunks: adjacent words on a line, parted by wide spaces and rules."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import add, attrgetter, sub
from typing import NamedTuple

from carrel.server.reading.page.elements import Box, Line, Word
from carrel.server.reading.page.lines import font_style
from carrel.server.reading.page.marks import LinkMark, MarkedText
from carrel.server.reading.page.parsed import Link, PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule

_LEFT, _WIDTH = attrgetter("x"), attrgetter("width")
SPACE = 0.8
"""Widest space within a sentence, as a fraction of line height."""
_STRETCHED = 1.6
"""Widest word space of a justified line, as a multiple of its usual one."""
_MOST_STRETCHED = 1.5
"""Widest word space of any justified line, as a multiple of its height."""
_LEAST_WORDS = 6
"""Fewest words that show a line's usual word space, unless its spaces are all alike."""
_LEAST_SPACES = 3
"""Fewest spaces that are not alike by chance."""
_SAME_SPACE = 0.02
"""Largest difference between such spaces, as a fraction of line height."""
_LEAST_FLUSH = 4
"""Fewest lines with a gap between the same edges that make it a gutter."""
_ONE_LINE = 0.3
"""Largest vertical distance between text centres on one line, as a fraction of height."""


class Chunk(NamedTuple):
    """Adjacent words on a line; `mono` if monospaced, as code is.

    `space` is the usual word space, 0 if unknown.
    """

    text: str
    box: Box
    mono: bool = False
    marks: tuple[LinkMark, ...] = ()
    space: float = 0.0

    @property
    def passage(self) -> MarkedText:
        return MarkedText(self.text, self.marks)


class ChunkRow(NamedTuple):
    """Chunks on one line, from left to right."""

    chunks: tuple[Chunk, ...]
    box: Box


def chunks_of_items(
    items: Iterable[TextItem], rules: Sequence[Rule], links: Sequence[Link] = ()
) -> list[Chunk]:
    """Cut liteparse's items, with word boxes, at wide spaces and rules."""
    found: list[Chunk] = []
    down = [rule for rule in rules if not rule.across and not rule.faint]
    for item in items:
        words = item.words
        if item.rotation and abs(item.angle) > 1:
            continue
        if _has_formula(item):
            found.append(Chunk(item.text.strip(), item.box))
            continue
        if not words:
            continue
        _, mono = font_style(item.font)
        top, bottom, space = item.y, item.y + item.height, SPACE * item.height
        lefts = list(map(_LEFT, words))
        rights = list(map(add, lefts, map(_WIDTH, words)))
        gaps = list(map(sub, lefts[1:], rights))
        cuts = []
        if max(gaps, default=0) > space:
            cuts = [number for number, gap in enumerate(gaps, 1) if gap > space]
        beside = [rule.at for rule in down if rule.start <= (top + bottom) / 2 <= rule.end]
        if beside:
            cuts = sorted({*cuts, *_crossed(beside, words)})
        here = [link for link in links if link.box.top <= (top + bottom) / 2 <= link.box.bottom]
        usual = sum(gaps) / max(1, len(gaps))
        if not cuts and not here:
            box = Box(lefts[0], top, rights[-1], bottom)
            found.append(Chunk(item.text.strip(), box, mono, (), usual))
            continue
        texts = item.text.split()
        if len(texts) != len(words):
            texts = [word.text for word in words]
        for first, end in pairwise([0, *cuts, len(words)]):
            box = Box(lefts[first], top, rights[end - 1], bottom)
            pieces = zip(texts[first:end], words[first:end], strict=True)
            passage = MarkedText.of((f"{text} ", _url(word, here)) for text, word in pieces)
            found.append(Chunk(passage.text, box, mono, passage.marks, 0.0 if cuts else usual))
    return found


def _has_formula(item: TextItem) -> bool:
    """Whether part of an item is a formula, for which liteparse has no words."""
    return "$" in item.text and len(item.words) < len(item.text.split())


def _url(word: PlacedWord, links: Sequence[Link]) -> str:
    """The address of the link under a word, from the links on its line; empty if there is none."""
    middle = word.x + word.width / 2
    return next((url for box, url in links if box.left <= middle <= box.right), "")


def _crossed(places: Sequence[float], words: Sequence[PlacedWord]) -> Iterator[int]:
    """Yield the index of each word with a rule before it, even where letters overlap the rule."""
    middles = [word.x + word.width / 2 for word in words]
    for number, (before, after) in enumerate(pairwise(middles), 1):
        if any(before < place < after for place in places):
            yield number


def chunks_of_lines(lines: Iterable[Line], rules: Sequence[Rule]) -> list[Chunk]:
    """Cut the lines that OCR found at wide spaces and rules."""
    down = [rule for rule in rules if not rule.across]
    return [piece for line in lines for piece in _cut(line, down)]


def _cut(line: Line, down: Sequence[Rule]) -> Iterator[Chunk]:
    """Cut a line at wide spaces and at the rules that cross it."""
    box, middle = line.box, line.box.centre[1]
    words = [word for word in line.read if word.edges]
    if not words:
        yield Chunk(line.text, box)
        return
    places = [rule.at for rule in down if rule.start <= middle <= rule.end]
    group = words[:1]
    for before, word in pairwise(words):
        assert before.edges and word.edges
        gap = word.edges[0] - before.edges[1]
        centres = [sum(edges) / 2 for edges in (before.edges, word.edges)]
        if gap > SPACE * box.height or any(centres[0] < at < centres[1] for at in places):
            yield _together(group, box)
            group = []
        group.append(word)
    yield _together(group, box)


def _together(words: Sequence[Word], line: Box) -> Chunk:
    edges = [word.edges for word in words if word.edges]
    box = Box(edges[0][0], line.top, edges[-1][1], line.bottom)
    return Chunk(" ".join(word.text for word in words), box)


def rows(chunks: Iterable[Chunk]) -> list[ChunkRow]:
    """Group chunks into lines, from top to bottom."""
    found: list[list[Chunk]] = []
    middle = height = 0.0
    for chunk in sorted(chunks, key=lambda chunk: chunk.box.top + chunk.box.bottom):
        centre = (chunk.box.top + chunk.box.bottom) / 2
        tall = chunk.box.bottom - chunk.box.top
        if found and centre - middle < _ONE_LINE * min(height, tall):
            found[-1].append(chunk)
        else:
            found.append([chunk])
            middle, height = centre, tall
    several = [line for line in found if len(line) > 1]
    for line in several:
        line.sort(key=lambda chunk: chunk.box.left)
    gutters = _flush_gaps(several)
    return [_row(line, gutters) for line in found]


def _flush_gaps(lines: Sequence[Sequence[Chunk]]) -> set[tuple[int, int]]:
    """The edges of gaps that several lines share, as in a gutter between justified columns."""
    if len(lines) < _LEAST_FLUSH:
        return set()
    shared = Counter(_edges(*pair) for line in lines for pair in pairwise(line))
    return {edges for edges, count in shared.items() if count >= _LEAST_FLUSH}


def _edges(before: Chunk, after: Chunk) -> tuple[int, int]:
    """The edges of the gap between two chunks, in whole points."""
    return round(before.box.right), round(after.box.left)


def _row(chunks: list[Chunk], gutters: set[tuple[int, int]]) -> ChunkRow:
    """Build a line; merge chunks with at most a word space between them, but over no gutter."""
    if len(chunks) == 1:
        return ChunkRow(tuple(chunks), chunks[0].box)
    widest = _MOST_STRETCHED * chunks[0].box.height
    breaks = [
        number
        for number, (before, after) in enumerate(pairwise(chunks), 1)
        if after.box.left - before.box.right >= widest
        or (gutters and _edges(before, after) in gutters)
    ]
    joined = [
        chunk
        for start, end in pairwise([0, *breaks, len(chunks)])
        for chunk in _joined(chunks[start:end])
    ]
    return ChunkRow(tuple(joined), Box.around(chunk.box for chunk in joined))


def _joined(chunks: list[Chunk]) -> list[Chunk]:
    """Merge neighbours on a line with a word space between them."""
    if len(chunks) == 1:
        return chunks
    least = max(_word_space(chunks), SPACE * chunks[0].box.height / 2)
    joined = chunks[:1]
    for chunk in chunks[1:]:
        last = joined[-1]
        if chunk.box.left - last.box.right < least:
            text, marks = last.passage.followed_by(chunk.passage)
            box = Box.around([last.box, chunk.box])
            joined[-1] = Chunk(text, box, last.mono and chunk.mono, marks, last.space)
        else:
            joined.append(chunk)
    return joined


def _word_space(chunks: Sequence[Chunk]) -> float:
    """The widest word space of a justified line; 0 for any other line.

    Spaces in a justified line can be wide enough to part the columns of a table.
    """
    counts = [chunk.text.count(" ") for chunk in chunks]
    if 2 * sum(map(_has_number, chunks)) > len(chunks):
        return 0.0
    spaces = [after.box.left - before.box.right for before, after in pairwise(chunks)]
    for chunk, count in zip(chunks, counts, strict=True):
        if chunk.space:
            spaces += [chunk.space] * count
    if sum(counts) + len(chunks) >= _LEAST_WORDS:
        return _STRETCHED * statistics.median(spaces)
    return _STRETCHED * spaces[0] if _all_alike(spaces, chunks) else 0.0


def _all_alike(spaces: Sequence[float], chunks: Sequence[Chunk]) -> bool:
    """Whether spaces are alike as in a justified line of a newspaper, not as between columns."""
    same = _SAME_SPACE * chunks[0].box.height
    widths = [chunk.box.width for chunk in chunks]
    return (
        len(spaces) >= _LEAST_SPACES
        and max(spaces) - min(spaces) < same
        and max(widths) - min(widths) > _LEAST_SPACES * same
    )


def _has_number(chunk: Chunk) -> bool:
    return any(map(str.isdecimal, chunk.text))


def cell_text(chunks: Sequence[Chunk]) -> MarkedText:
    """Join a cell's chunks into its text, undoing hyphenation."""
    if len(chunks) > 1:
        chunks = [chunk for row in rows(chunks) for chunk in row.chunks]
    whole = MarkedText("")
    for chunk in chunks:
        text = whole.text
        if text.endswith("-") and text[-2:-1].isalpha() and chunk.text[:1].islower():
            whole = whole.without_last_letter().followed_by(chunk.passage, between="")
        else:
            whole = whole.followed_by(chunk.passage)
    return whole if whole.marks else MarkedText(" ".join(whole.text.split()))


def usual_height(chunks: Sequence[Chunk]) -> float:
    """Median height of the chunks, at least 1 point."""
    return max(1.0, statistics.median(chunk.box.height for chunk in chunks))
