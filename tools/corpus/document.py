"""A document before it is set: blocks, each of leaves; a leaf is one piece that truth can name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from carrel.server.reading.page_model.network import Role

Style = Literal["", "bold", "italic", "code", "sup", "sub", "link"]


@dataclass(frozen=True)
class Run:
    text: str
    style: Style = ""


Runs = tuple[Run, ...]


def runs(text: str, style: Style = "") -> Runs:
    return (Run(text, style),) if text else ()


def plain(some: Runs) -> str:
    return "".join(run.text for run in some)


@dataclass
class Leaf:
    """The smallest piece with a truth of its own; `number` gives it `id`, `block` and `table`."""

    runs: Runs
    role: Role
    level: int | None = None
    row: int | None = None
    column: int | None = None
    rowspan: int = 1
    colspan: int = 1
    head: bool = False
    id: int = -1
    block: int = -1
    table: int | None = None

    @property
    def text(self) -> str:
        return plain(self.runs)


@dataclass
class Heading:
    leaf: Leaf
    run_in: bool = False
    """Whether the paragraph that follows goes on in its line."""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield 0, self.leaf


Kind = Literal["body", "lead", "author", "affiliation", "abstract", "address", "date", "note"]


@dataclass
class Paragraph:
    leaf: Leaf
    kind: Kind = "body"
    footnotes: list[Leaf] = field(default_factory=list)

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield 0, self.leaf
        yield from enumerate(self.footnotes, 1)


@dataclass
class Item:
    leaf: Leaf
    marker: str
    """"•", "–", "1." …; empty for a definition, whose term is its first, bold run."""
    depth: int = 0


@dataclass
class Items:
    items: list[Item]

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield from ((number, item.leaf) for number, item in enumerate(self.items))


Align = Literal["left", "right", "center", "decimal"]


@dataclass
class Cell:
    leaf: Leaf
    align: Align = "left"
    indent: int = 0
    strong: bool = False
    """Set in bold: a total, a group's name."""
    rule_above: bool = False


@dataclass
class Table:
    cells: list[Cell]
    rows: int
    columns: int
    head_rows: int
    wide: tuple[float, ...]
    """The relative need of room of each column."""
    caption: Leaf | None = None
    caption_above: bool = True
    notes: list[Leaf] = field(default_factory=list)
    full_width: bool = True
    spanning: bool = False
    """Over all columns of the page."""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        if self.caption and self.caption_above:
            yield 1, self.caption
        for cell in self.cells:
            yield 0, cell.leaf
        if self.caption and not self.caption_above:
            yield 1, self.caption
        yield from enumerate(self.notes, 2)


@dataclass
class Code:
    leaf: Leaf

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield 0, self.leaf


@dataclass
class Formula:
    leaf: Leaf
    tree: object
    """Of `corpus.formulas`."""
    label: str = ""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield 0, self.leaf


@dataclass
class Label:
    """A text in a drawing; its place and width are parts of the drawing's width and height."""

    leaf: Leaf
    left: float
    top: float
    width: float
    align: Align = "center"


Area = tuple[float, float, float, float]
"""Left, top, width and height, as parts of a drawing."""


@dataclass
class Figure:
    """A drawing with its labels: filled areas, frames, and a line through points."""

    labels: list[Label]
    bars: list[Area] = field(default_factory=list)
    frames: list[Area] = field(default_factory=list)
    line: list[tuple[float, float]] = field(default_factory=list)
    height: float = 9.0
    """In type sizes."""
    caption: Leaf | None = None
    caption_above: bool = False

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        if self.caption and self.caption_above:
            yield 1, self.caption
        for label in self.labels:
            yield 0, label.leaf
        if self.caption and not self.caption_above:
            yield 1, self.caption


@dataclass
class Form:
    """Rows of labels with their values; a value may be empty."""

    rows: list[list[tuple[Leaf, Leaf | None]]]
    boxed: bool = False
    stacked: bool = False
    """Whether a label stands above its value, not beside it."""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        number = 0
        for row in self.rows:
            for label, value in row:
                yield number, label
                if value:
                    yield number, value
                number += 1


@dataclass
class Contents:
    """Lines of a table of contents: title and page."""

    entries: list[tuple[Leaf, str]]
    """The leaf holds the title and the page; the second is the page alone."""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        for number, (leaf, _) in enumerate(self.entries):
            yield number, leaf


@dataclass
class References:
    entries: list[tuple[str, Leaf]]
    """The mark ("[3]", "7.", or none) is part of the leaf's text."""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        for number, (_, leaf) in enumerate(self.entries):
            yield number, leaf


@dataclass
class Box:
    """Text in a frame or on a shade."""

    blocks: list["Block"]
    floating: bool = False

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield from _inside(self.blocks)


@dataclass
class Beside:
    """Blocks next to each other."""

    sides: list[list["Block"]]
    widths: tuple[float, ...] = (1, 1)

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield from _inside([block for side in self.sides for block in side])


@dataclass
class Piece:
    """A leaf in an HTML element with a style of its own; `inside` stands for its plain words."""

    leaf: Leaf
    style: str = ""
    tag: str = "p"
    inside: str = ""

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield 0, self.leaf


@dataclass
class Markup:
    """HTML with leaves and blocks in it, which only what sets HTML can set."""

    parts: "list[str | Piece | Block]"

    @property
    def blocks(self) -> "list[Block]":
        return [part for part in self.parts if not isinstance(part, str)]

    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield from _inside(self.blocks)


@dataclass
class PageBreak:
    def leaves(self) -> Iterator[tuple[int, Leaf]]:
        yield from ()


Block = (
    Heading
    | Paragraph
    | Items
    | Table
    | Code
    | Formula
    | Figure
    | Form
    | Contents
    | References
    | Box
    | Beside
    | Piece
    | Markup
    | PageBreak
)


def _inside(blocks: Iterable[Block]) -> Iterator[tuple[int, Leaf]]:
    first = 0
    for block in blocks:
        last = first
        for number, leaf in block.leaves():
            last = max(last, first + number)
            yield first + number, leaf
        first = last + 1


@dataclass
class Margins:
    """Running heads and folios: "left", "center", "right" of the head or the foot.

    A folio's text is a pattern with "{page}".
    """

    head: dict[str, Leaf] = field(default_factory=dict)
    foot: dict[str, Leaf] = field(default_factory=dict)
    mirrored: bool = False
    """Left and right change sides on even pages."""
    first_page: bool = True

    def leaves(self) -> Iterator[Leaf]:
        yield from self.head.values()
        yield from self.foot.values()


@dataclass
class Document:
    language: str
    front: list[Block]
    """Over the whole width, before the columns begin."""
    body: list[Block]
    margins: Margins

    def leaves(self) -> Iterator[Leaf]:
        for block in (*self.front, *self.body):
            for _, leaf in block.leaves():
                yield leaf
        yield from self.margins.leaves()


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Box | Markup):
            yield from _tables(block.blocks)
        elif isinstance(block, Beside):
            for side in block.sides:
                yield from _tables(side)


def number(document: Document) -> dict[int, Leaf]:
    """Give every leaf its id (in reading order, from 1), its block and its table."""
    for index, table in enumerate(_tables((*document.front, *document.body))):
        for cell in table.cells:
            cell.leaf.table = index
    found: dict[int, Leaf] = {}
    block_number = 0
    for block, leaf in _inside((*document.front, *document.body)):
        leaf.id, leaf.block = len(found) + 1, block
        block_number = block + 1
        found[leaf.id] = leaf
    for leaf in document.margins.leaves():
        leaf.id, leaf.block = len(found) + 1, block_number
        block_number += 1
        found[leaf.id] = leaf
    return found


def colour(leaf: Leaf) -> tuple[int, int, int]:
    """Return the colour that tells a leaf in the twin: its id spread over 24 bits, never black."""
    value = leaf.id * 40503 % 0xFFFFFF
    return value >> 16, value >> 8 & 0xFF, value & 0xFF
