"""Tables without rules between their columns, found by vertical white space."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.lines import BULLETS
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.table import Cell, Table
from carrel.server.reading.tables.chunks import Chunk, ChunkRow, cell_text, usual_height
from carrel.server.reading.tables.row_groups import is_number, row_groups
from carrel.server.reading.tables.valleys import (
    Span,
    columns_of,
    gutters,
    of_column,
    reach,
    widened,
)

_APART = 1.6
"""Largest gap between rows of one table, in line heights."""
_LARGE = 1.8
"""Largest type in a table, in usual heights; larger type is a map's or a poster's."""
_PROSE = 34
"""Fewest letters of a line in a column of running text."""
_MARKER = re.compile(rf"[{BULLETS}*–—-]|\(?(\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.):]?")
_MOST_HEADS = 4
"""Most header rows of a table."""
_AROUND = 6
"""Lines above and below a table that show whether it is only a part of columns of text."""
_LEADERS = re.compile(r"(\. ?){5,}|…{3,}|_{5,}")


class UnruledTable(NamedTuple):
    """A table and where it stands."""

    box: Box
    table: Table


def unruled_tables(rows: Sequence[ChunkRow], rules: Sequence[Rule]) -> list[UnruledTable]:
    """The tables among the lines of a page; `rules` may part their rows."""
    rows = [_without_leaders(row) for row in rows]
    found: list[UnruledTable] = []
    start = 0
    while start < len(rows):
        end, columns = _run(rows, start)
        if end - start < 2:
            start += 1
            continue
        run = rows[start:end]
        around = rows[max(0, start - _AROUND) : end + _AROUND]
        if are_prose(around):
            start = end
            continue
        if _side_by_side(run, columns):
            for side in _sides(run, columns):
                found += unruled_tables(side, rules)
        else:
            groups = row_groups(run, columns, rules)
            if _is_table(groups, columns) and not _is_code(run, columns):
                head = _spanning_head(rows, start, columns)
                found.append(
                    UnruledTable(
                        Box.around(r.box for r in (*head, *run)),
                        _table(head, groups, columns, rules),
                    )
                )
        start = end
    return found


def _run(rows: Sequence[ChunkRow], start: int) -> tuple[int, list[Span]]:
    """Return the end and columns of a run of aligned lines; the first has several chunks."""
    if len(rows[start].chunks) < 2 or _leads(rows[start]):
        return start, []
    columns = widened([], rows[start])
    end = start + 1
    while end < len(rows) and not _leads(rows[end]):
        row, above = rows[end], rows[end - 1]
        if row.box.top - above.box.bottom > _APART * min(row.box.height, above.box.height):
            break
        wider = widened(columns, row)
        if len(wider) < min(len(columns), max(2, len(columns) - 1)):
            break
        if len(wider) < len(columns) and (len(wider) < 2 or end - start > 1):
            break
        columns, end = wider, end + 1
    while end - start > 1 and _trails(rows[start:end]):
        end -= 1
    return end, columns_of(rows[start:end])


def _leads(row: ChunkRow) -> bool:
    return any(map(_is_leader, row.chunks))


def _is_leader(chunk: Chunk) -> bool:
    text = chunk.text
    dotted = text.count(".") > 4 or "…" in text or "_" in text
    return dotted and _LEADERS.search(text) is not None


def _without_leaders(row: ChunkRow) -> ChunkRow:
    """Strip leader dots from a line with several numbers: it is of statistics, not of contents."""
    if len(row.chunks) < 3:
        return row
    leaders = [number for number, chunk in enumerate(row.chunks) if _is_leader(chunk)]
    if not leaders or len(row.chunks) - leaders[0] < 3:
        return row
    plain = [chunk._replace(text=_LEADERS.sub("", chunk.text).strip()) for chunk in row.chunks]
    return ChunkRow(tuple(chunk for chunk in plain if chunk.text), row.box)


def _trails(run: Sequence[ChunkRow]) -> bool:
    """Whether the last line is a single chunk below the table, not part of its last row."""
    last, above = run[-1], run[-2]
    if len(last.chunks) > 1:
        return False
    if last.box.left <= run[0].box.left + 1:
        return True
    gaps = [below.box.top - upper.box.bottom for upper, below in pairwise(run[:-1])]
    return last.box.top - above.box.bottom > max(gaps, default=0.0) + 1


def _is_prose(chunks: Sequence[Chunk]) -> bool:
    """Whether lines reach the column's edge: half of them if long, otherwise most."""
    if not chunks:
        return False
    # A line across the gutter makes the column wider than its text.
    width = sorted(chunk.box.width for chunk in chunks)[int(0.9 * len(chunks))]
    full = [chunk for chunk in chunks if chunk.box.width >= 0.7 * width]
    long = sum(len(chunk.text) >= _PROSE for chunk in full)
    wordy = sum(len(chunk.text) >= _PROSE / 2 and chunk.text.count(" ") > 1 for chunk in full)
    return len(chunks) > 1 and (long >= 0.5 * len(chunks) or wordy >= 0.7 * len(chunks))


def are_prose(run: Sequence[ChunkRow]) -> bool:
    """Whether some lines are columns of running text, however wide its spaces."""
    columns = gutters(run)
    return len(columns) > 1 and all(_is_prose(_whole_lines(run, column)) for column in columns)


def _side_by_side(run: Sequence[ChunkRow], columns: Sequence[Span]) -> bool:
    """Whether the lines are columns of running text."""
    prose = [column for column in columns if _is_prose(_whole_lines(run, column))]
    return len(columns) > 1 and len(prose) > 1


def _whole_lines(run: Sequence[ChunkRow], column: Span) -> list[Chunk]:
    """Rejoin the lines of a column that wide spaces cut."""
    cut = [of_column([row], column) for row in run]
    return [
        pieces[0]
        if len(pieces) == 1
        else Chunk(" ".join(piece.text for piece in pieces), Box.around(p.box for p in pieces))
        for pieces in cut
        if pieces
    ]


def _sides(run: Sequence[ChunkRow], columns: Sequence[Span]) -> list[list[ChunkRow]]:
    """Split lines at the widest gutter into a left and a right side."""
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
        sides.append([ChunkRow(c, Box.around(chunk.box for chunk in c)) for c in kept if c])
    return sides


def _is_table(groups: Sequence[Sequence[ChunkRow]], columns: Sequence[Span]) -> bool:
    """Whether rows that share columns are a table, not a list or a letterhead."""
    if len(columns) < 2 or len(groups) < (3 if len(columns) == 2 else 2):
        return False
    chunks = [chunk for group in groups for row in group for chunk in row.chunks]
    if max(chunk.box.height for chunk in chunks) > _LARGE * usual_height(chunks):
        return False
    held = [sum(bool(of_column(group, column)) for column in columns) for group in groups]
    if sum(held) < 0.4 * len(groups) * len(columns):
        return False
    if sum(count > 1 for count in held) < 0.5 * len(groups):
        return False
    if len(columns) > 2:
        return True
    first, second = ([c for group in groups for c in of_column(group, s)] for s in columns)
    return not is_list(first) and not _is_prose(second)


def _is_code(run: Sequence[ChunkRow], columns: Sequence[Span]) -> bool:
    """Whether monospaced lines are code: few of their fields are numbers."""
    chunks = [chunk for row in run for chunk in row.chunks]
    if not all(chunk.mono for chunk in chunks):
        return False
    others = [chunk for column in columns[1:] for chunk in of_column(run, column)]
    return 2 * sum(map(is_number, others)) < len(others)


def is_list(chunks: Sequence[Chunk]) -> bool:
    """Whether the first of two columns holds only list markers."""
    return all(_MARKER.fullmatch(chunk.text) for chunk in chunks)


def _spanning_head(rows: Sequence[ChunkRow], start: int, columns: Sequence[Span]) -> list[ChunkRow]:
    """Return the line above if it spans some of the columns, inside the table."""
    if start == 0:
        return []
    row, first = rows[start - 1], rows[start]
    close = first.box.top - row.box.bottom <= 0.9 * first.box.height
    inside = columns[0][1] < row.box.left and row.box.right <= columns[-1][1] + 2
    return [row] if close and inside and not _leads(row) else []


def _table(
    head: Sequence[ChunkRow],
    groups: Sequence[Sequence[ChunkRow]],
    columns: Sequence[Span],
    rules: Sequence[Rule],
) -> Table:
    groups = [*([row] for row in head), *groups]
    heads = _head_rows(groups, columns, rules)
    cells = [
        Cell(text, number, first, columns=last - first + 1, marks=marks)
        for number, group in enumerate(groups)
        for (first, last), chunks in _placed(group, columns, rules).items()
        for text, marks in [cell_text(chunks)]
    ]
    return Table.of(cells, header_rows=max(1, heads))


def _placed(
    group: Sequence[ChunkRow], columns: Sequence[Span], rules: Sequence[Rule]
) -> dict[tuple[int, int], list[Chunk]]:
    """Group a table row's chunks by the first and last column they span."""
    found: dict[tuple[int, int], list[Chunk]] = {}
    for chunk in (chunk for row in group for chunk in row.chunks):
        found.setdefault(reach(_underlined(chunk, rules, columns), columns), []).append(chunk)
    for place in [place for place in found if place[0] < place[1]]:
        if any(place[0] <= other[1] and other[0] <= place[1] for other in found if other != place):
            # It only overhangs a column that has text of its own.
            for chunk in found.pop(place):
                alone = _nearest(chunk, columns)
                found.setdefault((alone, alone), []).append(chunk)
    return found


def _nearest(chunk: Chunk, columns: Sequence[Span]) -> int:
    """The column that most of a chunk stands in."""
    left, right = chunk.box.left, chunk.box.right
    shared = [min(right, end) - max(left, start) for start, end in columns]
    return shared.index(max(shared))


def _underlined(chunk: Chunk, rules: Sequence[Rule], columns: Sequence[Span]) -> Chunk:
    """Widen a head to the rule below it, if that is drawn for it alone."""
    box = chunk.box
    whole = 0.9 * (columns[-1][1] - columns[0][0])
    for rule in rules:
        below = -2 <= rule.at - box.bottom <= 0.8 * box.height
        around = rule.start <= box.left + 2 and rule.end >= box.right - 2
        if rule.across and below and around and rule.end - rule.start < whole:
            return chunk._replace(box=box._replace(left=rule.start, right=rule.end))
    return chunk


def _head_rows(
    groups: Sequence[Sequence[ChunkRow]], columns: Sequence[Span], rules: Sequence[Rule]
) -> int:
    """Count header rows: down to the first rule, or one past the last that spans columns."""
    left, right = columns[0][0], columns[-1][1]
    for number, (above, below) in enumerate(pairwise(groups[: _MOST_HEADS + 1]), 1):
        upper, lower = above[-1].box.centre[1], below[0].box.centre[1]
        for rule in rules:
            wide = min(rule.end, right) - max(rule.start, left) > 0.8 * (right - left)
            if rule.across and wide and upper < rule.at < lower:
                return number
    spanning = [
        number
        for number, group in enumerate(groups[:_MOST_HEADS])
        if any(first < last for first, last in _placed(group, columns, rules))
        and sum(len(row.chunks) for row in group) > 1
    ]
    return min(len(groups) - 1, max(spanning, default=-1) + 2)
