"""Pieces: adjacent words on a line, parted by gaps clearly wider than a blank and by rules."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, pairwise
from operator import add, attrgetter, sub

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.lines import item_line, runs_from_right
from carrel.server.reading.page.parsed import Link, TextItem
from carrel.server.reading.page.rules import Rule

UPRIGHT = 20.0
"""Degrees. Text at a greater angle is not part of the flow."""
_LEFT, _WIDTH, _LEFT_EDGE = map(attrgetter, ("x", "width", "box.left"))
_BLANK = 0.45
"""Widest gap that is a blank for certain, as a part of the line's height."""
_GAP = 0.8
"""Narrowest gap that parts words whatever the others on the line are, as a part of its height."""
_STRETCHED = 1.7
"""Least ratio of a gap in between to the line's usual one, where that is known."""
_ALONE = 0.55
"""Such a gap on a line of few words, as a part of the line's height."""
_SPACES = 3
"""Fewest blanks that show the usual one."""
_LEVEL = 0.55
"""Least part of the lower piece's height that two pieces on one line share."""
_TALL = 1.8
"""Least height of what stands beside several lines, as a multiple of the usual one."""
_NARROW = 0.33
"""Narrowest gap that parts words where wide ones stand above or below, as a part of the height."""
_ALIGNED = 0.05
"""Largest difference of the edges of gaps that recur, as a part of the line's height."""
_AROUND = 5.0
"""Lines above and below in which a gap recurs, in line heights."""
_FEW = 4
"""Most words of a line that such gaps part."""
_TOUCHING = 0.1
"""Narrowest blank between pieces in different fonts, as a part of the line's height."""
_WIDEST = 1.2
"""Widest blank of a justified line, as a part of its height."""
_EDGE = 0.2
"""Largest difference of the edges of justified lines, as a part of their height."""
_PITCH = 2.2
"""Largest distance of the next line, in line heights."""
_NEAR = 3
"""Rows above and below in which the next line is looked for: other columns are not level."""
_TICK, _TAB = re.compile(r"[☐☑☒]|.*[\[(]\s?[xX]?|[\[(]\s?[xX]?\s?[\])]"), 2.0
"""A box to tick or its first half, and its largest distance from its label, in line heights."""
_CLOSING, _THOUSANDS = re.compile(r"[)%]+"), re.compile(r"(?:.*[^\d.,])?\d{1,3} \d{3}\D?")
"""The end of a number that accounts set apart, and two groups of digits with what is around."""
_WORD = re.compile(r"\S+")
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,7}")


def page_pieces(
    items: Iterable[TextItem],
    lines: Iterable[Line],
    rules: Sequence[Rule],
    links: Sequence[Link] = (),
) -> list[list[Line]]:
    """Cut a page's text into pieces, grouped into rows from top to bottom.

    `items` are those of a text layer, `lines` those that OCR found.
    """
    down = [rule for rule in rules if not rule.across and not rule.faint]
    upright = (item for item in items if not item.rotation or abs(item.angle) <= UPRIGHT)
    whole = [(item, line) for item in upright if (line := item_line(item, links))]
    read = [piece for line in lines for piece in _cut_line(line, down)]
    cut = [_cut_item(item, line, down) for item, line in whole]
    rows = piece_rows(chain(read, *cut))
    gaps = [
        (before.box.right, after.box.left, after.box.centre[1])
        for row in rows
        for before, after in pairwise(row)
        if after.box.left - before.box.right > _BLANK * after.box.height
    ]
    if gaps:
        again = [
            _cut_item(item, line, down, gaps) if 1 < len(item.words) <= _FEW else pieces
            for (item, line), pieces in zip(whole, cut, strict=True)
        ]
        if again != cut:
            rows = piece_rows(chain(read, *again))
    return _join_whole_lines([_join(row, down, gaps) if row[1:] else row for row in rows], down)


def mirrored_rows(rows: Iterable[Sequence[Line]], width: float) -> list[list[Line]]:
    """Mirror the rows of pieces on a page of this width; each row is again sorted from the left."""
    return [[piece.mirrored(width) for piece in reversed(row)] for row in rows]


_Gap = tuple[float, float, float]
"""The left and right edge of white space between two words, and the middle of their line."""


def _recurs(gap: _Gap, others: Iterable[_Gap], height: float) -> bool:
    """Return whether a wide gap nearby begins or ends where a narrow one does."""
    left, right, y = gap
    edge = _ALIGNED * height
    return right - left > _NARROW * height and any(
        start < left + edge
        and end > right - edge
        and (start > left - edge or end < right + edge)
        and _LEVEL * height < abs(middle - y) < _AROUND * height
        for start, end, middle in others
    )


def _cut_item(
    item: TextItem, line: Line, down: Sequence[Rule], gaps: Sequence[_Gap] = ()
) -> list[Line]:
    words = item.words
    if len(words) < 2:
        return [line]
    lefts = list(map(_LEFT, words))
    rights = list(map(add, lefts, map(_WIDTH, words)))
    cuts = _cuts(lefts, rights, line, down, gaps)
    places = list(_WORD.finditer(line.text)) if cuts else []
    # Of a formula, liteparse has no word, or only what follows it.
    if [place[0][:1] == "$" for place in places] != [word.text[:1] == "$" for word in words]:
        return [line]
    found = []
    for first, end in pairwise([0, *cuts, len(words)]):
        text, marks = line.marked.part(places[first].start(), places[end - 1].end())
        box = Box(min(lefts[first:end]), line.box.top, max(rights[first:end]), line.box.bottom)
        found.append(line._replace(text=text, box=box, marks=marks))
    return found


def _cut_line(line: Line, down: Sequence[Rule]) -> Iterator[Line]:
    """Cut a line that OCR found at wide gaps and at the rules that cross it."""
    words = [word for word in line.read if word.edges]
    if len(words) < 2:
        yield line
        return
    lefts, rights = zip(*(word.edges for word in words if word.edges), strict=True)
    for first, end in pairwise([0, *_cuts(lefts, rights, line, down), len(words)]):
        held = words[first:end]
        box = Box(min(lefts[first:end]), line.box.top, max(rights[first:end]), line.box.bottom)
        yield line._replace(text=" ".join(w.text for w in held), box=box, read=tuple(held))


def _cuts(
    lefts: Sequence[float],
    rights: Sequence[float],
    line: Line,
    down: Sequence[Rule],
    gaps: Sequence[_Gap] = (),
) -> list[int]:
    """Return the number of each word that stands apart from the one before it on a line.

    A rule parts words even where letters overlap it.
    """
    _, top, _, bottom = line.box
    height, y = bottom - top, (top + bottom) / 2
    spaces = list(map(sub, lefts[1:], rights))
    widest, beside = max(spaces), [rule.at for rule in down if rule.start <= y <= rule.end]
    if widest <= (_NARROW if gaps else _BLANK) * height and not beside:
        return []
    least = _ALONE * height
    if len(spaces) > _SPACES:
        usual = sorted(spaces)[(len(spaces) - 1) // 2]
        least = max(_BLANK * height, _STRETCHED * usual)
    least = min(least, _GAP * height)
    if widest <= least and not (gaps or beside):
        return []
    cuts = {number for number, space in enumerate(spaces, 1) if space > least}
    if gaps and not line.mono:
        texts = line.text.split()
        cuts |= {
            number
            for number, (left, right) in enumerate(zip(rights, lefts[1:], strict=False), 1)
            if _recurs((left, right, y), gaps, height)
            and all(any(map(str.isalnum, text)) for text in texts[number - 1 : number + 1])
        }
    if beside:
        middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
        cuts |= {
            number
            for number, (before, after) in enumerate(pairwise(middles), 1)
            if any(before < place < after for place in beside)
        }
    return sorted(cuts)


def piece_rows(pieces: Iterable[Line]) -> list[list[Line]]:
    """Group pieces by height on the page, each group from left to right.

    What is as tall as several lines, such as a large first letter, is of the first beside it.
    """
    found, tall = list[list[Line]](), list[Line]()
    top = bottom = 0.0
    if len(ordered := list(pieces)) < 2:
        return [ordered] if ordered else []
    ordered.sort(key=_middle)
    heights = sorted([piece.box.bottom - piece.box.top for piece in ordered])
    tallest = _TALL * heights[len(heights) // 2]
    for piece in ordered:
        _, high, _, low = piece.box
        level = found and high < bottom
        if low - high > tallest:
            tall.append(piece)
        elif level and min(bottom, low) - max(top, high) > _LEVEL * min(bottom - top, low - high):
            found[-1].append(piece)
            # Keep the height of the line itself: a raised mark must not widen it.
            if low - high > bottom - top:
                top, bottom = high, low
        else:
            found.append([piece])
            top, bottom = high, low
    for piece in tall:
        beside = next((row for row in found if _are_beside(row, piece)), [])
        if not beside:
            found.append(beside)
        beside.append(piece)
    if tall:
        found.sort(key=lambda row: _middle(row[0]))
    return [sorted(row, key=_LEFT_EDGE) if len(row) > 1 else row for row in found]


def _middle(piece: Line) -> float:
    return piece.box.top + piece.box.bottom


def _are_beside(row: Sequence[Line], piece: Line) -> bool:
    """Return whether a row is level with a taller piece, and no part of it above or below that."""
    box = row[0].box
    level = box.shared_height(piece.box) > _LEVEL * min(box.height, piece.box.height)
    return level and all(other.box.shared_width(piece.box) <= 0 for other in row)


def _join(row: list[Line], down: Sequence[Rule], gaps: Sequence[_Gap]) -> list[Line]:
    """Join neighbours in a row with a blank at most between them, in whatever font."""
    joined = row[:1]
    for piece in row[1:]:
        last = joined[-1]
        gap = piece.box.left - last.box.right
        height = min(last.box.height, piece.box.height)
        near = _NARROW * height < gap < _TAB * height and piece.text[:1] not in "[(☐☑☒"
        tick = near and _TICK.fullmatch(last.text)
        x, y = (last.box.right + piece.box.left) / 2, piece.box.centre[1]
        wide = not -height <= gap <= _BLANK * height
        recurs = not (tick or wide) and _recurs((last.box.right, piece.box.left, y), gaps, height)
        recurs = recurs and not _THOUSANDS.fullmatch(f"{last.text[-4:]} {piece.text[:4]}")
        apart = (not tick and (wide or recurs)) or any(
            abs(rule.at - x) <= abs(gap) / 2 + 1 and rule.start <= y <= rule.end for rule in down
        )
        ends = not wide and last.text[-1:].isdigit() and _CLOSING.fullmatch(piece.text)
        if apart and not ends:
            joined.append(piece)
        else:
            joined[-1] = _join_two(last, piece, " " if gap > _TOUCHING * height else "")
    # Dots lead a title to its page; in a table they lead to several numbers, or across rules.
    led = joined[-2:-1] and joined[-2].text.endswith("…") and _PAGE.fullmatch(joined[-1].text)
    y = joined[-1].box.centre[1]
    if led and not any(rule.start <= y <= rule.end for rule in down):
        entry = joined[-3 if joined[-2].text == "…" else -2 :]
        joined[-len(entry) :] = [reduce(lambda one, other: _join_two(one, other, " "), entry)]
    # Leaders that liteparse leaves out are as high as a dot.
    least = row[0].size / 2
    return [piece for piece in joined if piece.text != "…" or piece.size > least] or joined


def _join_whole_lines(rows: list[list[Line]], down: Sequence[Rule]) -> list[list[Line]]:
    """Join the words of justified lines: they end where the line above or below does."""
    heights = [piece.box.bottom - piece.box.top for row in rows for piece in row]
    widest, wide = _WIDEST * max(heights, default=0.0), dict[int, float]()
    for number, row in enumerate(rows):
        gaps = [two.box.left - one.box.right for one, two in pairwise(row)] if row[1:] else ()
        if some := [gap for gap in gaps if 0 < gap < widest]:
            wide[number] = min(some)
    for number in (*wide, *reversed(wide)):
        beside = rows[max(0, number - _NEAR) : number] + rows[number + 1 :][:_NEAR]
        for line in chain.from_iterable(beside):
            if wide[number] < _WIDEST * (line.box.bottom - line.box.top):
                rows[number] = _join_like(line, rows[number], down)
    return rows


def _join_like(line: Line, row: list[Line], down: Sequence[Rule]) -> list[Line]:
    """Join the pieces of a row that fill the width of another line with blanks between them."""
    left, top, right, bottom = line.box
    height = bottom - top
    edge, widest = _EDGE * height, _WIDEST * height
    held = [p for p in row if left - edge < p.box.left and p.box.right < right + edge]
    if len(held) < 2 or held[0].box.left >= left + edge or held[-1].box.right <= right - edge:
        return row
    left, y, right = held[0].box.left, row[0].box.centre[1], held[-1].box.right
    gaps = (after.box.left - before.box.right for before, after in pairwise(held))
    near = abs((top + bottom) / 2 - y) <= _PITCH * height
    if not (near and all(0 < gap < widest for gap in gaps)):
        return row
    if any(left < rule.at < right and rule.start <= y <= rule.end for rule in down):
        return row
    whole = reduce(lambda one, other: _join_two(one, other, " "), held)
    return sorted([*(piece for piece in row if piece not in held), whole], key=_LEFT_EDGE)


def _join_two(first: Line, second: Line, between: str) -> Line:
    """Return two pieces as one, in the order in which they are read."""
    if runs_from_right((first.text, second.text)):
        first, second = second, first
    return first.followed_by(second, between)
