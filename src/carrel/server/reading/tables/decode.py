"""Decodes tables from the page model's output: their pieces, rows, columns and cells."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, groupby, pairwise, product

import numpy as np

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.hyphens import join_marked
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page.table import Cell, MarkedText, Table
from carrel.server.reading.page_model.features import Floats, Indexes
from carrel.server.reading.page_model.network import SHARED, PageView
from carrel.server.reading.page_model.pieces import piece_rows
from carrel.server.reading.page_model.tags import UPRIGHT

_LIKELY = 0.5
_CERTAIN = 0.95
_FEWEST = 4
"""Fewest pieces of a table."""
_DOUBT = 0.01
"""Added to all likelihoods: one pair alone decides little."""
_FINE = 2**20
"""Steps of a vote of one."""
_OVER = 0.4
"""Least part of the narrower of two columns' pieces that stands over the other, if both are one."""
NUMBER = re.compile(r"[-\u2013\u2212]?\d[\d.,]*%?")
_AMOUNT = re.compile(rf"[(]?(?:[$€£¥₹] ?)?{NUMBER.pattern}-?[ )%]*[$€£¥₹]?")
_SIGN = re.compile(r"[A-Z]{0,3}[$€£¥₹]")
Pair = tuple[int, int, int, float]
"""The direction from a piece to its neighbour, both, and how likely they share something."""


class Sets:
    """Disjoint sets of numbers."""

    def __init__(self, count: int, pairs: Iterable[Sequence[int]] = ()) -> None:
        self._owner = list(range(count))
        for one, two in pairs:
            self.join(one, two)

    def root(self, number: int) -> int:
        """Return the number that stands for a set."""
        owner = self._owner
        while (above := owner[number]) != number:
            owner[number] = number = owner[above]
        return number

    def join(self, one: int, two: int) -> None:
        """Merge the sets of two numbers."""
        if self._owner[one] != self._owner[two]:
            self._owner[self.root(two)] = self.root(one)

    def groups(self, numbers: Iterable[int]) -> list[list[int]]:
        """Group the numbers by their set."""
        found: dict[int, list[int]] = {}
        for number in numbers:
            found.setdefault(self.root(number), []).append(number)
        return list(found.values())


@dataclass(frozen=True)
class PageReading:
    """A page's pieces with the model's view of them, mirrored if it reads from the right."""

    pieces: Sequence[Line]
    view: PageView
    from_right: bool = False

    @cached_property
    def boxes(self) -> list[Box]:
        """Their bounding boxes."""
        return [piece.box for piece in self.pieces]

    @cached_property
    def _middles(self) -> Floats:
        left, top, right, bottom = np.array(self.boxes).T
        return np.array([left + right, top + bottom])

    def inside(self, box: Box) -> list[int]:
        """Return the numbers of the pieces whose middle lies in a box or on its edge."""
        (x, y), (x0, y0, x1, y1) = self._middles, box
        within = (2 * x0 <= x) & (x <= 2 * x1) & (2 * y0 <= y) & (y <= 2 * y1)
        found: list[int] = np.flatnonzero(within).tolist()
        return found

    @cached_property
    def _neighbours(self) -> tuple[Indexes, ...]:
        neighbours = self.view.neighbours
        direction, one = np.nonzero(neighbours < len(self.pieces))
        return direction, one, neighbours[direction, one]

    def pairs_within(self, members: Iterable[int], what: str) -> list[Pair]:
        """Return the pairs of which both pieces are members."""
        columns = self.columns_within(members, what)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def columns_within(
        self, members: Iterable[int], what: str
    ) -> tuple[Indexes, Indexes, Indexes, Floats]:
        """Return the columns of such pairs: direction, piece, neighbour and probability."""
        inside = np.zeros(len(self.pieces), bool)
        inside[[*members]] = True
        direction, one, two = self._neighbours
        kept = inside[one] & inside[two]
        direction, one, two = direction[kept], one[kept], two[kept]
        chance = self.view.shared[direction, one, SHARED.index(what)].astype(float)
        return direction, one, two, chance

    def connected(self, members: Sequence[int], what: str, least: float) -> list[list[int]]:
        """Group the members that are more likely than `least` to share something."""
        pairs = (pair[1:3] for pair in self.pairs_within(members, what) if pair[3] > least)
        return Sets(len(self.pieces), pairs).groups(members)

    def head_rows(self, row_of: Mapping[int, int]) -> int:
        """Return how many rows at the top are mostly head cells; a first row of words is one."""
        votes = self.view.flag("head")[[*row_of]] - _LIKELY
        rows = int(np.argmin(np.append(np.bincount([*row_of.values()], votes)[:-1] > 0, False)))
        first = (self.pieces[number].text for number, row in row_of.items() if row == 0)
        numbers = (any(map(str.isdigit, t)) and not any(map(str.isalpha, t)) for t in first)
        return max(rows, int(not any(numbers)))


def table_pieces(page: PageReading, taken: Collection[int] = ()) -> list[list[int]]:
    """Return the pieces of each table: likely cells not yet taken that are neighbours in it."""
    cell = page.view.role("cell") > _LIKELY
    cell[list(taken)] = False
    groups = page.connected(np.flatnonzero(cell).tolist(), "table", _CERTAIN)
    large = (group for group in groups if len(group) >= _FEWEST)
    parts = (part for group in large for part in _split_group(page, group))
    found = [part for part in parts if len(part) >= _FEWEST]
    rest = set(range(len(page.pieces))) - {*taken, *(number for each in found for number in each)}
    for group in found:
        # Whatever stands among a table's cells is one of them: it would be lost.
        while inside := rest.intersection(page.inside(Box.around(page.boxes[n] for n in group))):
            group += inside
            rest -= inside
    return found


def _split_group(page: PageReading, group: list[int]) -> list[list[int]]:
    """Split a group into tables beside or below each other that few neighbour pairs join."""
    parts = [group]
    for band_of in (_strips(page, group), _bands(page, group)):
        whole, parts = parts, []
        for part in whole:
            part_of = _parts(page, part, "table", band_of)
            ordered = sorted(part, key=part_of.__getitem__)
            parts += [[*some] for _, some in groupby(ordered, part_of.__getitem__)]
    return parts


def _strips(page: PageReading, group: Iterable[int]) -> dict[int, int]:
    """Return the number of each piece's strip from left to right; none crosses their gutters."""
    row = sorted(group, key=lambda number: page.boxes[number].left)
    ends = accumulate((page.boxes[number].right for number in row), max)
    begins = (page.boxes[n].left > end for n, end in zip(row[1:], ends, strict=False))
    return dict(zip(row, accumulate(begins, initial=0), strict=True))


def _bands(page: PageReading, group: Iterable[int]) -> dict[int, int]:
    """Return the line of each piece, counted from top to bottom."""
    number_of = {id(page.pieces[number]): number for number in group}
    bands = piece_rows(page.pieces[number] for number in sorted(number_of.values()))
    return {number_of[id(piece)]: band for band, pieces in enumerate(bands) for piece in pieces}


def decode_table(page: PageReading, members: Sequence[int], rules: Sequence[Rule]) -> Table | None:
    """Return the table of some pieces, or None with fewer than two rows or columns."""
    table = _Decoder(page, members, rules).table()
    return table if table.width > 1 and table.height > 1 else None


@dataclass(eq=False)
class _PlacedCell:
    """A cell's pieces, its first and last row, and its first and last column once known."""

    pieces: list[int]
    box: Box
    first: int
    last: int
    wide: bool
    text: str
    columns: tuple[int, int] | None = None


def _parts(
    page: PageReading, members: Iterable[int], what: str, band_of: Mapping[int, int]
) -> dict[int, int]:
    """Return the number of each piece's part, a row or a table; pairs vote where one ends.

    Two pieces that do not belong together may be parted at the end of any band between them.
    """
    bands = np.zeros(len(page.pieces), int)
    bands[[*band_of]] = [*band_of.values()]
    direction, one, other, chance = page.columns_within(members, what)
    if what == "row":
        # Numbers above each other are of two rows.
        numbers = [number for number in band_of if _AMOUNT.fullmatch(page.pieces[number].text)]
        stacked = np.isin(one, numbers) & np.isin(other, numbers) & (direction >= UPRIGHT)
        chance = np.where(stacked, np.minimum(chance, 1 - chance), chance)
    first, last = np.sort([bands[one], bands[other]], axis=0)
    vote = np.log((chance + _DOUBT) / (1 - chance + _DOUBT))
    # Sums of whole numbers are exact: votes that cancel out are none.
    vote = np.rint(_FINE * np.where(vote > 0, vote, vote / np.maximum(last - first, 1)))
    begun, ended = (np.bincount(at, vote, bands.max() + 1) for at in (first, last))
    # Without a vote, rows end, and tables go on.
    ends = np.cumsum(begun - ended) < (1 if what == "row" else 0)
    part_of: list[int] = (np.cumsum(ends) - ends).tolist()
    return {number: part_of[band] for number, band in band_of.items()}


class _Column:
    """Cells above each other."""

    def __init__(self, cells: list[_PlacedCell]) -> None:
        self.cells = cells
        self.rows = {row: cell.box for cell in cells for row in range(cell.first, cell.last + 1)}

    @property
    def span(self) -> tuple[float, float]:
        """Its left and right edges; an outlying cell does not widen it."""
        lefts = sorted(cell.box.left for cell in self.cells)
        rights = sorted(cell.box.right for cell in self.cells)
        return lefts[len(lefts) // 8], rights[-1 - len(rights) // 8]

    def span_below(self, cell: _PlacedCell, heads: int) -> tuple[float, float]:
        """Return the edges of what stands below a cell: heads of the column or all of it."""
        below = [other for other in self.cells if cell.last < other.first < heads]
        return _Column(below or self.cells).span

    def is_head(self, rows: int) -> bool:
        """Return whether it has cells in the first rows only."""
        return all(cell.last < rows for cell in self.cells)

    def join(self, other: "_Column") -> None:
        """Add the cells of another."""
        self.cells += other.cells
        self.rows.update(other.rows)

    def is_beside(self, other: "_Column") -> bool:
        """Return whether both have cells side by side in a row."""
        shared = self.rows.keys() & other.rows.keys()
        return any(not _overlap(self.rows[row], other.rows[row]) for row in shared)

    def overlap(self, other: "_Column") -> float:
        """Return the overlap in parts of the narrower column, -1 if both fill a row."""
        if self.is_beside(other):
            return -1
        (left, right), (start, end) = self.span, other.span
        return (min(right, end) - max(left, start)) / max(1.0, min(right - left, end - start))


def _overlap(one: Box, two: Box) -> bool:
    return one.shared_width(two) > 0.3 * min(one.width, two.width)


class _Decoder:
    """Takes one table apart."""

    def __init__(self, page: PageReading, members: Sequence[int], rules: Sequence[Rule]) -> None:
        self._page = page
        self._rules = rules
        self._members = set(members)
        self._wide: list[float] = page.view.flag("wide").tolist()
        self._band = _bands(page, self._members)
        self._row = _parts(page, self._members, "row", self._band)
        self._marked = page.head_rows(self._row)
        self._heads = max(1, self._marked)

    def table(self) -> Table:
        """Return the cells on their grid."""
        cells = self._cells()
        columns = self._columns(cells)
        for number, column in enumerate(columns):
            for cell in column.cells:
                cell.columns = number, number
        for cell in sorted(cells, key=lambda cell: cell.box.left):
            if cell.columns is None or cell.last + 1 < self._heads:
                cell.columns = self._span(cell, columns, cells)
        kept = self._kept_rows(cells)
        # Cells of one place are one, in the order in which they are read.
        found = []
        for cell in sorted(cells, key=lambda cell: (self._band[cell.pieces[0]], cell.box.left)):
            text, marks = joined_text([self._page.pieces[number] for number in cell.pieces])
            start, end = cell.columns or (0, 0)
            row = bisect_left(kept, cell.first)
            rows = max(1, bisect_left(kept, cell.last + 1) - row)
            found.append(Cell(text, row, start, rows, end - start + 1, marks))
        return Table.of(found, bisect_left(kept, self._marked))

    def _kept_rows(self, cells: Iterable[_PlacedCell]) -> list[int]:
        """Return the first rows of cells; lines of one or of a head that share no column merge."""
        filled, ends = dict[int, set[int]](), dict[int, int]()
        for cell in cells:
            start, end = cell.columns or (0, 0)
            filled.setdefault(cell.first, set()).update(range(start, end + 1))
            ends[cell.first] = min(cell.last, ends.get(cell.first, cell.last))
        kept = sorted(filled)
        for row, following in pairwise(tuple(kept)):
            within = ends[row] >= following or following + 1 < self._heads
            if within and filled[row].isdisjoint(filled[following]):
                filled[following] |= filled[row]
                kept.remove(row)
        return kept

    def _cells(self) -> list[_PlacedCell]:
        groups = self._page.connected(sorted(self._members), "cell", _LIKELY)
        rows = [{self._row[number] for number in group} for group in groups]
        # Where other cells fill each of several rows alone, none covers them all.
        alone = {row for filled in rows for row in filled if len(filled) == 1}
        cells = list[_PlacedCell]()
        for group, filled in zip(groups, rows, strict=True):
            apart = ([n for n in group if self._row[n] == row] for row in sorted(filled))
            cells += map(self._cell, apart if filled <= alone else [group])
        return cells

    def _cell(self, pieces: list[int]) -> _PlacedCell:
        rows = [self._row[number] for number in pieces]
        box = Box.around(self._page.boxes[number] for number in pieces)
        wide = sum(map(self._wide.__getitem__, pieces)) > _LIKELY * len(pieces)
        text = " ".join(self._page.pieces[number].text for number in pieces)
        return _PlacedCell(pieces, box, min(rows), max(rows), wide, text)

    def _columns(self, cells: Sequence[_PlacedCell]) -> list[_Column]:
        """Return the columns from left to right, found by cells of a single column."""
        narrow = [cell for cell in cells if not cell.wide] or list(cells)
        cell_of = {number: cell for cell in narrow for number in cell.pieces}
        chain_of = {cell: _Column([cell]) for cell in narrow}
        pairs = self._page.pairs_within(self._members, "column")
        pairs = [pair for pair in pairs if pair[0] >= UPRIGHT and pair[3] > _LIKELY]
        for _, one, other, _ in sorted(pairs, key=lambda pair: -pair[3]):
            if one in cell_of and other in cell_of:
                first, second = cell_of[one], cell_of[other]
                above, below = chain_of[first], chain_of[second]
                apart = above is below or not _overlap(first.box, second.box)
                if not apart and not above.is_beside(below):
                    above.join(below)
                    chain_of.update(dict.fromkeys(below.cells, above))
        columns: list[_Column] = []
        for chain in sorted(dict.fromkeys(chain_of.values()), key=lambda chain: -len(chain.cells)):
            overlap, best = max(
                ((column.overlap(chain), n) for n, column in enumerate(columns)), default=(-1, 0)
            )
            if overlap > _OVER:
                columns[best].join(chain)
            else:
                columns.append(chain)
        return self._add_heads(sorted(columns, key=lambda column: sum(column.span)))

    def _add_heads(self, columns: Sequence[_Column]) -> list[_Column]:
        """Return the columns with their heads, which may lie beside all cells, and their signs."""
        heads = self._heads
        found: list[_Column] = []
        for column in columns:
            last = found[-1] if found else column
            first = min(last.rows.keys() & column.rows, default=-1)
            above = first < 0 and last.is_head(heads) != column.is_head(heads)
            signs = (cell.text for cell in last.cells if cell.first >= self._marked)
            amounts = (cell.text for cell in column.cells if cell.first >= self._marked)
            beside = all(map(_SIGN.fullmatch, signs)) and any(map(NUMBER.search, amounts))
            if found and (above or (first >= self._marked and beside)):
                last.join(column)
            else:
                found.append(column)
        return found

    def _span(
        self, cell: _PlacedCell, columns: Sequence[_Column], cells: Sequence[_PlacedCell]
    ) -> tuple[int, int]:
        """Return the first and last column of a cell that may span several: it fills the field
        between rules, else it is centred over its columns.
        """
        spans = [column.span_below(cell, self._heads) for column in columns]
        middles = [(start + end) / 2 for start, end in spans]
        left, right = cell.box.left, cell.box.right
        field = self._field(cell, cells)
        if over := [n for n, x in enumerate(middles) if field and field[0] < x < field[1]]:
            return over[0], over[-1]
        over = [
            n for n, (start, end) in enumerate(spans)
            if min(right, end) - max(left, start) > 0.25 * min(right - left, end - start)
        ]  # fmt: skip
        nearest = min(range(len(spans)), key=lambda n: abs(2 * middles[n] - left - right))
        known = cell.columns
        first, last = known or (over[0], over[-1]) if over else (nearest, nearest)
        beside = [
            other.columns
            for other in cells
            if other.columns and other.first <= cell.last and other.last >= cell.first
        ]
        low = max((end + 1 for _, end in beside if end < first), default=0)
        high = min((start - 1 for start, _ in beside if start > last), default=len(spans) - 1)

        def distance(span: tuple[int, int]) -> float:
            return abs(spans[span[0]][0] + spans[span[1]][1] - left - right)

        options = product(range(low, first + 1), range(last, high + 1))
        best = min((s for s in options if s[1] > s[0]), key=distance, default=(first, last))
        if known and 2 * distance(best) + cell.box.height > distance(known):
            return known
        return best

    def _field(self, cell: _PlacedCell, cells: Iterable[_PlacedCell]) -> tuple[float, float] | None:
        """Return the sides of the field that rules give a head cell alone."""
        x, y = cell.box.centre
        below = (r for r in self._rules if r.across and r.at > y and r.start <= x <= r.end)
        low = min(below, key=lambda rule: rule.at, default=None)
        if cell.first >= self._heads or low is None:
            return None
        down = [rule for rule in self._rules if not rule.across and rule.end >= y]
        sides = [rule.at for rule in down if rule.start <= y]
        left = max([low.start, *(at for at in sides if at < x)])
        right = min([low.end, *(at for at in sides if at > x)])
        # The field ends where rules between its columns begin.
        ends = [rule.start for rule in down if rule.start > y and left < rule.at < right]
        field = Box(left, cell.box.top, right, min([low.at, *ends]))
        alone = not any(field.holds_centre(other.box) for other in cells if other is not cell)
        return (left, right) if alone else None


def joined_text(pieces: Sequence[Line]) -> MarkedText:
    """Return the text of a cell's pieces in reading order, without hyphenation."""
    ordered = (piece.marked for row in piece_rows(pieces) for piece in row)
    whole = reduce(join_marked, ordered) if pieces else MarkedText("")
    return whole if whole.marks else MarkedText(" ".join(whole.text.split()))
