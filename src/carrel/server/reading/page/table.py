"""Text with its links and note marks, and tables of it: cells on a grid, with spans."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, Self


class LinkMark(NamedTuple):
    """Letters of a text that link to an address or, without one, to a note below."""

    start: int
    end: int
    url: str = ""

    def shifted(self, by: int) -> "LinkMark":
        """Return the mark moved by `by` letters."""
        return LinkMark(self.start + by, self.end + by, self.url)


class MarkedText(NamedTuple):
    """Text with single spaces between words, and its marks."""

    text: str
    marks: tuple[LinkMark, ...] = ()

    def followed_by(self, other: "MarkedText", between: str = " ") -> "MarkedText":
        """Join two passages, and a link that continues from one into the other."""
        if not self.text or not other.text:
            return self if self.text else other
        start = len(self.text) + len(between)
        marks = [*self.marks, *(mark.shifted(start) for mark in other.marks)]
        return MarkedText(f"{self.text}{between}{other.text}", merge_marks(marks))

    def part(self, start: int, end: int) -> "MarkedText":
        """Return the letters from `start` to `end` with their marks."""
        marks = (
            LinkMark(max(mark.start - start, 0), min(mark.end, end) - start, mark.url)
            for mark in self.marks
            if mark.start < end and mark.end > start
        )
        return MarkedText(self.text[start:end], tuple(marks))

    @classmethod
    def of(cls, pieces: Iterable[tuple[str, str]]) -> "MarkedText":
        """Join pieces of text, each with its link address, if any, and normalise white space."""
        parts, marks = list[str](), list[LinkMark]()
        length, space = 0, False
        for piece, url in pieces:
            words = " ".join(piece.split())
            space = space or piece[:1].isspace()
            if words:
                gap = " " if space and length else ""
                start = length + len(gap)
                length = start + len(words)
                parts += [gap, words]
                if url:
                    marks.append(LinkMark(start, length, url))
                space = piece[-1:].isspace()
        return cls("".join(parts), merge_marks(marks))


def merge_marks(marks: Iterable[LinkMark]) -> tuple[LinkMark, ...]:
    """Merge marks of one address at most a space apart, in order."""
    merged: list[LinkMark] = []
    for mark in marks:
        last = merged[-1] if merged else None
        if last and last.url == mark.url and mark.start <= last.end + 1:
            merged[-1] = last._replace(end=mark.end)
        else:
            merged.append(mark)
    return tuple(merged)


class Cell(NamedTuple):
    """A cell's text, its top left grid position (from 0) and its spans.

    The text has single spaces between its words; `marks` are its links.
    """

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    marks: tuple[LinkMark, ...] = ()


@dataclass(frozen=True)
class Table:
    """Cells from left to right and top to bottom; exactly one covers each grid position."""

    cells: tuple[Cell, ...]
    header_rows: int = 1

    @classmethod
    def of(cls, cells: Iterable[Cell], header_rows: int = 1) -> Self:
        """Build a table from cells; empty cells fill uncovered grid positions.

        A span ends where another cell begins or covers the grid; cells of one place are one.
        """
        beginning: dict[tuple[int, int], Cell] = {}
        for cell in sorted(cells, key=lambda cell: (cell.row, cell.column)):
            place = cell.row, cell.column
            beginning[place] = _joined(beginning[place], cell) if place in beginning else cell
        placed, taken = list[Cell](), set(beginning)
        for cell in beginning.values():
            if cell.rows > 1 or cell.columns > 1:
                cell = _fit(cell, taken)
                taken.update(_places(cell))
            placed.append(cell)
        height = max((row for row, _ in taken), default=-1) + 1
        width = max((column for _, column in taken), default=-1) + 1
        free = set(product(range(height), range(width))) - taken
        placed += [Cell("", row, column) for row, column in free]
        placed.sort(key=lambda cell: (cell.row, cell.column))
        return cls(tuple(placed), min(header_rows, height))

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[str]], header_rows: int = 1) -> Self:
        """Build a table without spans from the texts of its rows and normalise white space."""
        cells = [
            Cell(" ".join(text.split()), row, column)
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
        ]
        return cls.of(cells, header_rows)

    @property
    def links(self) -> tuple[str, ...]:
        """The addresses its cells link to."""
        return tuple(mark.url for cell in self.cells for mark in cell.marks)

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return max((cell.row + cell.rows for cell in self.cells), default=0)

    @cached_property
    def width(self) -> int:
        """Number of columns."""
        return max((cell.column + cell.columns for cell in self.cells), default=0)

    def rows(self) -> list[list[Cell]]:
        """Return the cells that begin in each row."""
        rows: list[list[Cell]] = [[] for _ in range(self.height)]
        for cell in self.cells:
            rows[cell.row].append(cell)
        return rows


def _places(cell: Cell) -> list[tuple[int, int]]:
    columns = range(cell.column, cell.column + cell.columns)
    return [*product(range(cell.row, cell.row + cell.rows), columns)]


def _joined(cell: Cell, other: Cell) -> Cell:
    """Return a cell with the text and the reach of another that begins at the same place."""
    text, marks = MarkedText(cell.text, cell.marks).followed_by(MarkedText(other.text, other.marks))
    rows, columns = max(cell.rows, other.rows), max(cell.columns, other.columns)
    return Cell(text, cell.row, cell.column, rows, columns, marks)


def _fit(cell: Cell, taken: set[tuple[int, int]]) -> Cell:
    """Return a cell without the columns, then the rows, of its span that are taken."""
    while cell.columns > 1 and not taken.isdisjoint(_places(cell._replace(rows=1))[1:]):
        cell = cell._replace(columns=cell.columns - 1)
    while cell.rows > 1 and not taken.isdisjoint(_places(cell)[1:]):
        cell = cell._replace(rows=cell.rows - 1)
    return cell
