"""Tables without rules between their columns: found by the white space that runs down them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from carrel.server.reading.layout import Box
from carrel.server.reading.tables.chunks import SPACE, Chunk, Row, cell_text, usual_height
from carrel.server.reading.tables.rules import Rule
from carrel.server.reading.tables.table import Cell, Table

_APART = 1.6
"""Rows further apart than this part of a line's height are not of one table."""
_LARGE = 1.8
"""Type so much larger than the usual one is a map's or a poster's, and never in a table."""
_PROSE = 34
"""Letters of a line in a column of running text, at least."""
_NUMBER = re.compile(r"[-+−–(]?[$€£]?\s?\d[\d.,:\s]*\s?[%)€]?|[-–—]|n/?a", re.IGNORECASE)
_MARKER = re.compile(r"[•◦▪‣●○■□·∙*–—-]|\(?(\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.):]?")
_LEADERS = re.compile(r"(\. ?){5,}|…{3,}|_{5,}")

Span = tuple[float, float]


@dataclass(frozen=True)
class Found:
    """A table and where it stands."""

    box: Box
    table: Table


def unruled_tables(rows: Sequence[Row], rules: Sequence[Rule]) -> list[Found]:
    """The tables among the lines of a page; `rules` may part their rows."""
    found: list[Found] = []
    start = 0
    while start < len(rows):
        end, columns = _run(rows, start)
        if end - start < 2:
            start += 1
            continue
        run = rows[start:end]
        if _side_by_side(run, columns):
            for side in _sides(run, columns):
                found += unruled_tables(side, rules)
        else:
            groups = _row_groups(run, columns, rules)
            if _is_table(groups, columns):
                head = _spanning_head(rows, start, columns)
                found.append(
                    Found(Box.around(r.box for r in (*head, *run)), _table(head, groups, columns))
                )
        start = end
    return found


def _run(rows: Sequence[Row], start: int) -> tuple[int, list[Span]]:
    """Where lines that share columns, beginning at one with several chunks, end."""
    if len(rows[start].chunks) < 2 or _leads(rows[start]):
        return start, []
    columns = _merged([], rows[start])
    end = start + 1
    while end < len(rows) and not _leads(rows[end]):
        row, above = rows[end], rows[end - 1]
        if row.box.top - above.box.bottom > _APART * min(row.box.height, above.box.height):
            break
        wider = _merged(columns, row)
        if len(wider) < min(len(columns), max(2, len(columns) - 1)):
            break
        if len(wider) < len(columns) and (len(wider) < 2 or end - start > 1):
            break
        columns, end = wider, end + 1
    whole = end
    while end - start > 1 and _trails(rows[start:end]):
        end -= 1
    return end, columns if end == whole else _columns(rows[start:end])


def _leads(row: Row) -> bool:
    return any(
        (text.count(".") > 4 or "…" in text or "_" in text) and _LEADERS.search(text)
        for text, *_ in row.chunks
    )


def _trails(run: Sequence[Row]) -> bool:
    """Whether the last line is a single chunk below the table, not the rest of its last row."""
    last, above = run[-1], run[-2]
    if len(last.chunks) > 1:
        return False
    gaps = [below.box.top - upper.box.bottom for upper, below in pairwise(run[:-1])]
    gap = last.box.top - above.box.bottom
    return gap > max(gaps, default=0.0) + 1 or last.box.left <= run[0].box.left + 1


def _merged(columns: list[Span], row: Row) -> list[Span]:
    """The columns, made wide enough for one more line."""
    spans = sorted([*columns, *((chunk.box.left, chunk.box.right) for chunk in row.chunks)])
    least = SPACE * row.box.height / 2
    merged = spans[:1]
    for left, right in spans[1:]:
        if left - merged[-1][1] < least:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def _columns(run: Sequence[Row]) -> list[Span]:
    columns: list[Span] = []
    for row in run:
        columns = _merged(columns, row)
    return columns


def _of_column(run: Sequence[Row], column: Span) -> list[Chunk]:
    left, right = column
    return [chunk for row in run for chunk in row.chunks if left <= chunk.box.centre[0] <= right]


def _is_prose(chunks: Sequence[Chunk]) -> bool:
    """Whether the lines of a column reach its edge: half of them if they are long, or most."""
    if not chunks:
        return False
    # A line that stands across the gutter makes the column wider than its text.
    width = sorted(chunk.box.width for chunk in chunks)[int(0.9 * len(chunks))]
    full = [chunk for chunk in chunks if chunk.box.width >= 0.7 * width]
    long = sum(len(chunk.text) >= _PROSE for chunk in full)
    wordy = sum(len(chunk.text) >= _PROSE / 2 and chunk.text.count(" ") > 1 for chunk in full)
    return len(chunks) > 1 and (long >= 0.5 * len(chunks) or wordy >= 0.7 * len(chunks))


def _side_by_side(run: Sequence[Row], columns: Sequence[Span]) -> bool:
    """Whether the lines are columns of running text."""
    prose = [column for column in columns if _is_prose(_of_column(run, column))]
    return len(columns) > 1 and len(prose) > 1


def _sides(run: Sequence[Row], columns: Sequence[Span]) -> list[list[Row]]:
    """The lines left and right of the widest gutter, each by themselves."""
    gutters = [
        (after[0] - before[1], (after[0] + before[1]) / 2) for before, after in pairwise(columns)
    ]
    middle = max(gutters)[1]
    tests: tuple[Callable[[Chunk], bool], ...] = (
        lambda chunk: chunk.box.right < middle,
        lambda chunk: chunk.box.left > middle,
    )
    sides = []
    for inside in tests:
        kept = [tuple(filter(inside, row.chunks)) for row in run]
        sides.append([Row(c, Box.around(chunk.box for chunk in c)) for c in kept if c])
    return sides


def _is_table(groups: Sequence[Sequence[Row]], columns: Sequence[Span]) -> bool:
    """Whether rows that share columns are a table, and not a list or a letterhead."""
    if len(columns) < 2 or len(groups) < (3 if len(columns) == 2 else 2):
        return False
    chunks = [chunk for group in groups for row in group for chunk in row.chunks]
    if max(chunk.box.height for chunk in chunks) > _LARGE * usual_height(chunks):
        return False
    held = [sum(bool(_of_column(group, column)) for column in columns) for group in groups]
    if sum(held) < 0.4 * len(groups) * len(columns):
        return False
    if sum(count > 1 for count in held) < 0.5 * len(groups):
        return False
    if len(columns) > 2:
        return True
    first, second = ([c for group in groups for c in _of_column(group, s)] for s in columns)
    return not all(_MARKER.fullmatch(c.text) for c in first) and not _is_prose(second)


def _spanning_head(rows: Sequence[Row], start: int, columns: Sequence[Span]) -> list[Row]:
    """The line above, if it stands over some of the columns and inside the table."""
    if start == 0:
        return []
    row, first = rows[start - 1], rows[start]
    close = first.box.top - row.box.bottom <= 0.9 * first.box.height
    inside = columns[0][1] < row.box.left and row.box.right <= columns[-1][1] + 2
    return [row] if close and inside and not _leads(row) else []


def _table(head: Sequence[Row], groups: Sequence[Sequence[Row]], columns: Sequence[Span]) -> Table:
    cells = [
        Cell(text, number, first, columns=last - first + 1, marks=marks)
        for number, row in enumerate(head)
        for chunk in row.chunks
        for first, last in [_reach(chunk, columns)]
        for text, marks in [cell_text([chunk])]
    ]
    cells += [
        Cell(text, number, place, marks=marks)
        for number, group in enumerate(groups, len(head))
        for place, column in enumerate(columns)
        for text, marks in [cell_text(_of_column(group, column))]
        if text
    ]
    return Table.of(cells, header_rows=len(head) + 1)


def _reach(chunk: Chunk, columns: Sequence[Span]) -> tuple[int, int]:
    """The first and last column that a head stands over."""
    left, right = chunk.box.left, chunk.box.right
    over = [n for n, (start, end) in enumerate(columns) if left < end and right > start]
    if over:
        return over[0], over[-1]
    after = next(n for n, (start, _) in enumerate(columns) if start >= right)
    return max(0, after - 1), after


def _row_groups(
    run: Sequence[Row], columns: Sequence[Span], rules: Sequence[Rule]
) -> list[list[Row]]:
    """Lines of a table by the row they belong to: cells may have several lines."""
    height = usual_height([chunk for row in run for chunk in row.chunks])
    banded = _banded(run, rules)
    if len(banded) > 2 and not any(_conflict(group, columns) for group in banded):
        return banded
    gaps = [below.box.top - above.box.bottom for above, below in pairwise(run)]
    for limit in _limits(gaps, height):
        groups = _split(run, [gap > limit for gap in gaps])
        if not any(_conflict(group, columns) for group in groups):
            return groups
    breaks = [
        gap > 0.5 * height or not _continues(above, below, columns)
        for gap, (above, below) in zip(gaps, pairwise(run), strict=True)
    ]
    return _split(run, breaks)


def _split(run: Sequence[Row], breaks: Sequence[bool]) -> list[list[Row]]:
    groups = [[run[0]]]
    for row, apart in zip(run[1:], breaks, strict=True):
        if apart:
            groups.append([])
        groups[-1].append(row)
    return groups


def _banded(run: Sequence[Row], rules: Sequence[Rule]) -> list[list[Row]]:
    """Lines by the rules between them."""
    left, right = min(row.box.left for row in run), max(row.box.right for row in run)
    heights = [
        rule.at
        for rule in rules
        if rule.across and min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left)
    ]
    breaks = [
        any(above.box.centre[1] < at < below.box.centre[1] for at in heights)
        for above, below in pairwise(run)
    ]
    return _split(run, breaks)


def _limits(gaps: Sequence[float], height: float) -> list[float]:
    """What may part the gaps inside rows from those between them, the widest first."""
    ordered = sorted(gaps, reverse=True)
    return [
        (wide + narrow) / 2 for wide, narrow in pairwise(ordered) if wide - narrow > 0.2 * height
    ]


def _conflict(group: Sequence[Row], columns: Sequence[Span]) -> bool:
    """Whether lines that were taken for one row hold more than one number in a column."""
    for column in columns:
        chunks = _of_column(group, column)
        if sum(bool(_NUMBER.fullmatch(chunk.text)) for chunk in chunks) > 1:
            return True
    return sum(len(row.chunks) == len(columns) for row in group) > 1


def _continues(above: Row, row: Row, columns: Sequence[Span]) -> bool:
    """Whether a line is more of the cells above it: no first cell, no number."""
    if any(_NUMBER.fullmatch(chunk.text) for chunk in row.chunks):
        return False
    held = {_reach(chunk, columns)[0] for chunk in above.chunks}
    return all(
        _reach(chunk, columns)[0] in held and chunk.box.left > columns[0][1] for chunk in row.chunks
    )
