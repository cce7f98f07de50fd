"""The documents of a table competition: `NAME.pdf` beside `NAME-str.xml`, which has its cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.competition.adjacency import Relations, Score, relations, score
from support.tables import Cell, Grid


@dataclass(frozen=True)
class Document:
    """A PDF and the relations of its tables' cells.

    There may be several truths, where the judges did not agree; the one that suits counts.
    """

    path: Path
    truths: tuple[Relations, ...]

    def score(self, tables: Sequence[Grid]) -> Score:
        """How right these tables are."""
        found = relations(tables)
        return max((score(truth, found) for truth in self.truths), key=lambda score: score.f1)

    def certainties(self, tables: Sequence[tuple[float, Grid]]) -> list[tuple[float, bool]]:
        """The certainty of every two neighbouring cells, and whether they are neighbours."""
        found = relations(grid for _, grid in tables)
        rest = max(self.truths, key=lambda truth: score(truth, found).f1).copy()
        judged = []
        for certainty, grid in tables:
            for relation in relations([grid]).elements():
                judged.append((certainty, rest[relation] > 0))
                rest[relation] -= 1
        return judged


def documents(folder: Path) -> list[Document]:
    """The documents of a folder; `NAME-a` and `NAME-b` may be two truths for one PDF."""
    truths: dict[str, list[Relations]] = {}
    for path in sorted(folder.glob("*-str.xml")):
        name = path.name.removesuffix("-str.xml")
        truths.setdefault(name.rstrip("ab"), []).append(relations(_tables(path)))
    return [
        Document(path, tuple(truths[name]))
        for path in sorted(folder.glob("*.pdf"))
        if (name := path.stem.rstrip("ab")) in truths
    ]


def _tables(path: Path) -> list[Grid]:
    root = ElementTree.parse(path).getroot()
    return [[_cell(cell) for cell in region.iter("cell")] for region in root.iter("region")]


def _cell(element: ElementTree.Element) -> Cell:
    def number(name: str, otherwise: str) -> int:
        return int(element.get(name) or element.get(otherwise) or 0)

    row, column = number("start-row", "start-row"), number("start-col", "start-col")
    rows = number("end-row", "start-row") - row + 1
    columns = number("end-col", "start-col") - column + 1
    return Cell(row, column, rows, columns, element.findtext("content") or "")
