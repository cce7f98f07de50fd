"""How well an answer has a document's order, tables and headings, each between 0 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from benchmarks.unseen.distance import Node, bare, likeness, tree_distance
from benchmarks.unseen.structure import Structure
from support.tables import Grid


@dataclass(frozen=True)
class Score:
    """None where a document has none of it."""

    order: float
    tables: float | None
    headings: float | None
    false_tables: int = 0
    """Tables found in a document that has none."""

    @property
    def all(self) -> float:
        return fmean(one for one in (self.order, self.tables, self.headings) if one is not None)


def score(true: Structure, found: Structure) -> Score:
    return Score(
        likeness(bare(true.text), bare(found.text)),
        table_score(true.tables, found.tables) if true.tables else None,
        heading_score(true.headings, found.headings) if true.headings else None,
        0 if true.tables else len(found.tables),
    )


def table_score(true: Sequence[Grid], found: Sequence[Grid]) -> float:
    """Return the mean likeness (TEDS) of each table to the one found for it; one too many is 0."""
    likely = sorted(
        (
            (-table_likeness(grid, other), i, j)
            for i, grid in enumerate(true)
            for j, other in enumerate(found)
        ),
    )
    ours: set[int] = set()
    theirs: set[int] = set()
    total = 0.0
    for value, i, j in likely:
        if i not in ours and j not in theirs:
            ours.add(i)
            theirs.add(j)
            total -= value
    return total / max(len(true), len(found))


def table_likeness(one: Grid, other: Grid) -> float:
    """Return TEDS: 1 less the edit distance of the trees of rows and cells, over the larger tree.

    Heads are cells like others, since not every format can tell them.
    """
    trees = _table(one), _table(other)
    largest = max(tree.size() for tree in trees)
    if abs(trees[0].size() - trees[1].size()) > 0.9 * largest:
        return 0.0
    return max(0.0, 1 - tree_distance(*trees, _table_rename) / largest)


def _table(grid: Grid) -> Node:
    rows = groupby(
        sorted(grid, key=lambda cell: (cell.row, cell.column)), key=lambda cell: cell.row
    )
    return Node(
        "table",
        children=[
            Node(
                "tr",
                children=[Node(f"td {c.rows} {c.columns}", bare(c.text)) for c in cells],
            )
            for _, cells in rows
        ],
    )


def _table_rename(one: Node, other: Node) -> float:
    if one.label != other.label:
        return 1.0
    return 0.0 if one.text == other.text else 1 - likeness(one.text, other.text)


def heading_score(true: Sequence[tuple[int, str]], found: Sequence[tuple[int, str]]) -> float:
    """Return 1 less the edit distance of the trees of headings, over the larger tree's headings.

    A heading stands below the last one of a higher level: only that counts, not the number.
    """
    if not found:
        return 0.0
    trees = _outline(true), _outline(found)
    largest = max(len(true), len(found))
    return max(0.0, 1 - tree_distance(*trees, _heading_rename) / largest)


def _outline(headings: Sequence[tuple[int, str]]) -> Node:
    root = Node("document")
    open_nodes = [(0, root)]
    for level, text in headings:
        while open_nodes[-1][0] >= level:
            open_nodes.pop()
        node = Node("heading", bare(text).casefold())
        open_nodes[-1][1].children.append(node)
        open_nodes.append((level, node))
    return root


def _heading_rename(one: Node, other: Node) -> float:
    if one.label != other.label:
        return 2.0
    return 0.0 if one.text == other.text else 2 * (1 - likeness(one.text, other.text))
