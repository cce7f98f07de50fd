"""Pages with tables whose cells are known, pages without any, and how right a reading is.

Drawn with reportlab, the same at every call with the same seed.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    ListFlowable,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    SimpleDocTemplate,
    Table,
)

_PLACES = ("Oslo", "Bergen", "Trondheim", "Stavanger", "Tromsø", "Bodø", "Ålesund", "Narvik")
_THINGS = ("Books", "Journals", "Maps", "Letters", "Prints", "Films", "Scores", "Atlases")
_TEXT = (
    "the reading room holds rare volumes and keeps them under glass until a reader asks for one "
    "by its shelf mark which is written on a slip of paper and carried down to the stacks"
)
_HEADS = ("Place", "Stock", "Loans", "Share", "Change", "Open", "Visits")
_FONTS = ("Helvetica", "Times-Roman")


class Cell(NamedTuple):
    """A cell's place, its reach and its text."""

    row: int
    column: int
    rows: int
    columns: int
    text: str


Grid = list[Cell]


@dataclass
class _Drawn:
    """A table as reportlab draws it, and its cells."""

    flowable: Flowable
    cells: Grid


class _Maker:
    """Makes tables of one kind, each different."""

    def __init__(self, seed: int, *, ruled: bool) -> None:
        self.chance = random.Random(seed)
        self._ruled = ruled
        self.font = self.chance.choice(_FONTS)
        self.size = self.chance.choice((8, 9, 10, 11))
        self._cell = ParagraphStyle(
            "cell", fontName=self.font, fontSize=self.size, leading=self.size * 1.2
        )
        self.body = ParagraphStyle("body", parent=self._cell, spaceBefore=8, spaceAfter=8)

    def prose(self, words: int) -> str:
        """A sentence."""
        return " ".join(self.chance.choices(_TEXT.split(), k=words)).capitalize() + "."

    def _number(self) -> str:
        kind = self.chance.randrange(4)
        if kind == 0:
            return str(self.chance.randrange(1, 2000))
        if kind == 1:
            return f"{self.chance.randrange(1000, 90000):,}"
        if kind == 2:
            return f"{self.chance.uniform(0, 99):.1f} %"
        return f"{self.chance.uniform(-50, 900):.2f}"

    def table(self) -> _Drawn:
        """The next table."""
        chance = self.chance
        columns, height = chance.randrange(3, 7), chance.randrange(4, 10)
        wide = chance.random() < 0.4
        rows: list[list[str]] = [list(_HEADS[:columns])]
        for _ in range(height):
            first = f"{chance.choice(_PLACES)} {chance.choice(_THINGS).lower()}"
            row = [first, *(self._number() for _ in range(columns - 1))]
            if wide:
                row[1] = self.prose(chance.randrange(3, 14))
            if chance.random() < 0.4:
                row[chance.randrange(2, columns)] = ""
            rows.append(row)
        spans = self._spans(rows) if chance.random() < 0.35 else []
        covered = {
            (row, column)
            for (left, top), (right, bottom) in spans
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
            if (row, column) != (top, left)
        }
        reach = {(top, left): (b - top + 1, r - left + 1) for (left, top), (r, b) in spans}
        cells = [
            Cell(row, column, *reach.get((row, column), (1, 1)), text)
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
            if (row, column) not in covered
        ]
        return _Drawn(self._drawn(rows, spans, wide), cells)

    def _spans(self, rows: list[list[str]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """A second row of heads under one that covers two, or a first column that covers two."""
        columns = len(rows[0])
        if not self._ruled or self.chance.random() < 0.6:
            top = [rows[0][0], *[""] * (columns - 1)]
            top[1] = "Holdings in thousands" if columns > 3 else "Holdings"
            if columns > 3:
                top[3:] = rows[0][3:]
            rows.insert(0, top)
            spans = [((1, 0), (2, 0))]
            if self._ruled:
                rows[1][0] = ""
                spans.append(((0, 0), (0, 1)))
                for column in range(3, columns):
                    rows[1][column] = ""
                    spans.append(((column, 0), (column, 1)))
            else:
                rows[0][0] = ""
                rows[0][3:] = [""] * (columns - 3)
            return spans
        rows[2][0] = ""
        return [((0, 1), (0, 2))]

    def _drawn(
        self, rows: list[list[str]], spans: Sequence[tuple[object, object]], wide: bool
    ) -> Flowable:
        chance, columns = self.chance, len(rows[0])
        heads = 2 if ((1, 0), (2, 0)) in spans else 1
        widths: list[float] = [110, *[chance.randrange(50, 64) for _ in range(columns - 1)]]
        if wide:
            widths[1] = 150
        content: list[list[object]] = [list(row) for row in rows]
        if wide:
            for row in content[1:]:
                row[1] = Paragraph(str(row[1]), self._cell)
        style: list[tuple[object, ...]] = [
            ("FONT", (0, 0), (-1, -1), self.font, self.size),
            ("VALIGN", (0, 0), (-1, -1), chance.choice(("TOP", "MIDDLE")) if wide else "MIDDLE"),
            ("ALIGN", (2, 0), (-1, -1), chance.choice(("LEFT", "RIGHT", "CENTER"))),
            *[("SPAN", *span) for span in spans],
            *(self._rules(heads) if self._ruled else self._airs(len(rows))),
        ]
        return Table(
            content, colWidths=widths, style=style, hAlign=chance.choice(("LEFT", "CENTER"))
        )

    def _rules(self, heads: int) -> list[tuple[object, ...]]:
        width, colour = (
            self.chance.choice((0.25, 0.5, 1)),
            self.chance.choice((colors.black, colors.grey, colors.HexColor("#336699"))),
        )
        style: list[tuple[object, ...]] = [("GRID", (0, 0), (-1, -1), width, colour)]
        kind = self.chance.randrange(3)
        if kind == 1:
            style.append(("BACKGROUND", (0, 0), (-1, heads - 1), colors.lightgrey))
        if kind == 2:
            # Open at the sides.
            style = [
                ("INNERGRID", (0, 0), (-1, -1), width, colour),
                ("LINEABOVE", (0, 0), (-1, 0), width, colour),
                ("LINEBELOW", (0, -1), (-1, -1), width, colour),
            ]
        return style

    def _airs(self, rows: int) -> list[tuple[object, ...]]:
        """No rules between columns: nothing, a few lines across, or stripes."""
        kind = self.chance.randrange(3)
        if kind == 1:
            return [
                ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
                ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
                ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
            ]
        if kind == 2:
            return [
                ("BACKGROUND", (0, row), (-1, row), colors.whitesmoke) for row in range(1, rows, 2)
            ]
        return []


def tables_pdf(path: Path, *, ruled: bool, seed: int = 0, pages: int = 12) -> list[list[Grid]]:
    """Draws pages with one or two tables and text around them; the cells, page by page.

    Ruled tables have a line on every side of a cell (some are open at the left and right); the
    others have no line between their columns.
    """
    found: list[list[Grid]] = []
    story: list[Flowable] = []
    for page in range(pages):
        maker = _Maker(1000 * seed + page, ruled=ruled)
        drawn = [maker.table() for _ in range(1 + page % 2)]
        parts: list[Flowable] = [Paragraph(maker.prose(40), maker.body)]
        for table in drawn:
            parts += [table.flowable, Paragraph(maker.prose(50), maker.body)]
        story += [KeepTogether(parts), PageBreak()]
        found.append([table.cells for table in drawn])
    SimpleDocTemplate(str(path), pagesize=A4, invariant=1).build(story)
    return found


def plain_pdf(path: Path, *, seed: int = 0) -> None:
    """Draws pages without a single table, on which one might be seen."""
    maker = _Maker(seed, ruled=False)
    prose = [Paragraph(maker.prose(words), maker.body) for words in (60, 90, 30, 120, 45)]
    kinds: list[tuple[int, Callable[[], list[Flowable]]]] = [
        (1, lambda: [*prose]),
        (2, lambda: [*prose, *prose, *prose]),
        (3, lambda: [*prose, *prose, *prose]),
        (1, lambda: [_list(maker, "bullet"), _list(maker, "1"), _list(maker, "a")]),
        (2, lambda: [_list(maker, "1"), *prose, _list(maker, "bullet"), *prose]),
        (1, lambda: [Preformatted(_CODE, ParagraphStyle("code", fontName="Courier", fontSize=9))]),
        (1, lambda: [_boxed(maker), *prose, _boxed(maker)]),
        (1, lambda: [_defined(maker) for _ in range(6)]),
        (1, lambda: [Preformatted(_LETTER, maker.body), *prose]),
        (1, lambda: [_contents(maker)]),
    ]
    document = BaseDocTemplate(str(path), pagesize=A4, invariant=1)
    templates = []
    for columns in (1, 2, 3):
        width = (A4[0] - 120) / columns
        frames = [Frame(60 + n * width, 70, width - 8, A4[1] - 140) for n in range(columns)]
        templates.append(PageTemplate(str(columns), frames, onPage=_running_heads))
    document.addPageTemplates(templates)
    story: list[Flowable] = []
    for columns, make in kinds:
        story += [NextPageTemplate(str(columns)), PageBreak(), *make()]
    # The first template is that of the first kind: its page is there already.
    document.build(story[2:])


_CODE = """\
def shelve(book, shelf):
    if book.size > shelf.free:      # does not fit
        raise ValueError(book)
    shelf.books.append(book)        # sorted later
    return shelf.free - book.size   # what is left
"""
_LETTER = """\
The Reading Room                                     4 May 2026
12 Library Lane
"""


def _running_heads(canvas: object, document: BaseDocTemplate) -> None:
    draw = canvas.drawString  # type: ignore[attr-defined]
    draw(72, A4[1] - 40, "Library Quarterly")
    draw(A4[0] - 120, A4[1] - 40, "Volume 7")
    draw(A4[0] - 120, 30, f"Page {document.page}")


def _list(maker: _Maker, kind: str) -> Flowable:
    items = [Paragraph(maker.prose(maker.chance.randrange(4, 24)), maker.body) for _ in range(6)]
    return ListFlowable(items, bulletType="bullet" if kind == "bullet" else kind)


def _boxed(maker: _Maker) -> Flowable:
    style = ParagraphStyle(
        "box", parent=maker.body, borderWidth=1, borderColor=colors.black, borderPadding=6
    )
    return Paragraph(maker.prose(50), style)


def _defined(maker: _Maker) -> Flowable:
    """A term and, indented below it, what it means."""
    return ListFlowable(
        [Paragraph(maker.prose(30), maker.body)], bulletType="bullet", start="", leftIndent=60
    )


def _contents(maker: _Maker) -> Flowable:
    lines = [f"{maker.prose(4).rstrip('.')} {'. ' * 30}{number * 7}" for number in range(1, 12)]
    return Preformatted("\n".join(lines), maker.body)


class _Tables(HTMLParser):
    """The tables of an HTML text."""

    def __init__(self) -> None:
        super().__init__()
        self.grids: list[Grid] = []
        self._row = -1
        self._taken: set[tuple[int, int]] = set()
        self._inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.grids.append([])
            self._row, self._taken = -1, set()
        elif tag == "tr":
            self._row += 1
        elif tag in ("td", "th"):
            reach = dict(attributes)
            rows, columns = int(reach.get("rowspan") or 1), int(reach.get("colspan") or 1)
            column = 0
            while (self._row, column) in self._taken:
                column += 1
            self._taken |= {
                (self._row + down, column + right)
                for down in range(rows)
                for right in range(columns)
            }
            self.grids[-1].append(Cell(self._row, column, rows, columns, ""))
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            cell = self.grids[-1][-1]
            self.grids[-1][-1] = cell._replace(text=cell.text + data)


def grids_of(html: str) -> list[Grid]:
    """The cells of every table in an HTML text."""
    parser = _Tables()
    parser.feed(html)
    return parser.grids


@dataclass(frozen=True)
class Score:
    """How many cells were right, of how many; and tables that are none."""

    right: int = 0
    cells: int = 0
    false_tables: int = 0

    @property
    def part(self) -> float:
        return self.right / max(1, self.cells)

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.right + other.right,
            self.cells + other.cells,
            self.false_tables + other.false_tables,
        )


def score(expected: Sequence[Grid], found: Sequence[Grid], *, alike: float = 1.0) -> Score:
    """Holds the tables found on a page against those that stand there.

    A cell is right when its place, its reach and its text are; spaces do not count, and `alike`
    is how much of the text must agree. Cells too many count as wrong ones.
    """
    right, cells = 0, sum(map(len, expected))
    waiting = list(found)
    for grid in expected:
        if not waiting:
            break
        rights = [sum(_rights(grid, other, alike)) for other in waiting]
        best = max(range(len(waiting)), key=rights.__getitem__)
        right += rights[best]
        cells += max(0, len(waiting.pop(best)) - len(grid))
    return Score(right, cells, len(waiting))


def _rights(grid: Grid, other: Grid, alike: float) -> Iterator[bool]:
    texts = {cell[:4]: "".join(cell.text.split()) for cell in other}
    for cell in grid:
        text, found = "".join(cell.text.split()), texts.get(cell[:4])
        yield found is not None and (
            text == found
            or (alike < 1 and SequenceMatcher(None, text, found, autojunk=False).ratio() >= alike)
        )
