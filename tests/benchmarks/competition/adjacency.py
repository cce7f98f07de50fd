"""Tables scored by the neighbours of their cells, as the table competition of ICDAR 2013 did.

Every cell with text is related to its nearest neighbour with text to the right and below; a cell
that covers several rows or columns has a neighbour in each of them. Texts are compared without
white space and punctuation, in lower case. The relations of a document are pooled, so that finding
a table and taking it apart are scored together.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from support.tables import Cell, Grid


class Relation(NamedTuple):
    """Two cells next to each other, by their texts."""

    text: str
    neighbour: str
    direction: Literal["right", "below"]


Relations = Counter[Relation]


class Score(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def relations(tables: Iterable[Grid]) -> Relations:
    """The relations of all cells of some tables."""
    return Counter(relation for grid in tables for relation in _of_table(grid))


def score(expected: Relations, found: Relations) -> Score:
    """How right the relations are that were found."""
    right = (expected & found).total()
    precision = right / found.total() if found else 0.0
    recall = right / expected.total() if expected else 0.0
    return Score(precision, recall, 2 * right / max(1, expected.total() + found.total()))


def _of_table(grid: Grid) -> Iterator[Relation]:
    filled = [cell for cell in grid if cell.text.strip()]
    owners = {
        (row, column): cell
        for cell in filled
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    }
    height = max((row for row, _ in owners), default=-1) + 1
    width = max((column for _, column in owners), default=-1) + 1
    for cell in filled:
        right = (
            _first(owners, ((row, column) for column in range(cell.column + cell.columns, width)))
            for row in range(cell.row, cell.row + cell.rows)
        )
        below = (
            _first(owners, ((row, column) for row in range(cell.row + cell.rows, height)))
            for column in range(cell.column, cell.column + cell.columns)
        )
        for neighbour in dict.fromkeys(filter(None, right)):
            yield Relation(_plain(cell.text), _plain(neighbour.text), "right")
        for neighbour in dict.fromkeys(filter(None, below)):
            yield Relation(_plain(cell.text), _plain(neighbour.text), "below")


def _first(owners: dict[tuple[int, int], Cell], places: Iterable[tuple[int, int]]) -> Cell | None:
    return next((owners[place] for place in places if place in owners), None)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()
