"""A digital page costs little more than liteparse, the library that finds its text.

Two PDFs, one of plain pages (prose in one and two columns, headings, lists, small tables, code,
links, running heads) and one of pages full of tables as reports have them, are read in turn by:

- `Reader`: file in, pages as they travel out, its parser process and the pipe from it included;
- liteparse alone, within this process, so that its results cross no pipe: asked for what a page is
  made from (Markdown, blocks, words, rules, links, and whether the page needs OCR). For
  information, also asked for Markdown only, and for text only.

Compared is the CPU time of all processes that take part, because others may use the machine. What
it took by the clock is for information: it is less where a second core is free, because pages are
parsed while others are put together. Both have their processes warm. Needs Linux's /proc.
"""

import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from liteparse import LiteParse
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    ListFlowable,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    Table,
    TableStyle,
)

from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader

PAGES = 100
TABLE_PAGES = 40
ROUNDS = 7
BOUND = 2.0
TABLE_BOUND = 4.0
SETTLE_SECONDS = 0.3
"""The process that read a document ends after its last page: it is waited for."""

WORDS = """
    reading room carrel lamp window shelf reader book page paper catalogue archive letter manuscript
    volume margin index the a of and in with without under before after every many some quiet early
    late narrow well-lit northern public printed bound borrowed returned copied described ordered
    kept opened closed arrived remained were was has been may should often
"""


def book(path: Path, pages: int = PAGES) -> Path:
    """A PDF of `pages` A4 pages as full as a printed book's, the same at every call."""
    chance = random.Random(4)
    vocabulary = WORDS.split()
    style = getSampleStyleSheet()
    body = ParagraphStyle("body", style["BodyText"], fontSize=10, leading=12.5, alignment=4)

    def sentence() -> str:
        words = [chance.choice(vocabulary) for _ in range(chance.randint(7, 18))]
        return " ".join(words).capitalize() + "."

    def prose(sentences: int) -> Paragraph:
        return Paragraph(" ".join(sentence() for _ in range(sentences)), body)

    def page(number: int) -> list[Flowable]:
        columns = 1 + number % 2
        flowables: list[Flowable] = [
            Paragraph(f"{number}. On {chance.choice(vocabulary)} and {chance.choice(vocabulary)}",
                      style["Heading1" if number % 10 == 1 else "Heading2"]),
            prose(6), prose(7),
        ]  # fmt: skip
        match number % 5:
            case 0:
                items = [Paragraph(sentence(), body) for _ in range(5)]
                flowables.append(ListFlowable(items, bulletType="1"))
            case 1:
                cells = [[chance.choice(vocabulary) for _ in range(4)] for _ in range(6)]
                grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
                flowables.append(Table(cells, style=grid, colWidths=[200 / columns] * 4))
            case 2:
                link = '<a href="https://example.org/catalogue">the catalogue</a>'
                flowables.append(Paragraph(f"{sentence()} See {link}. {sentence()}", body))
            case 3:
                code = "def add(shelf, book):\n    if book:\n        shelf.append(book)"
                flowables.append(Preformatted(code, style["Code"]))
        flowables += [
            Paragraph("Further remarks", style["Heading3"]), *(prose(6) for _ in range(3)),
            NextPageTemplate(f"{2 - number % 2}"), PageBreak(),
        ]  # fmt: skip
        return flowables

    def decorate(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, A4[1] - 40, "On reading rooms")
        canvas.drawCentredString(A4[0] / 2, 30, str(document.page))

    width, height = A4[0] - 144, A4[1] - 144
    half = (width - 18) / 2
    template = BaseDocTemplate(str(path), pagesize=A4, invariant=1)
    template.addPageTemplates(
        [
            PageTemplate("2", [Frame(72, 72, half, height), Frame(90 + half, 72, half, height)],
                         onPage=decorate),
            PageTemplate("1", [Frame(72, 72, width, height)], onPage=decorate),
        ]
    )  # fmt: skip
    template.build([flowable for number in range(1, pages + 1) for flowable in page(number)])
    return path


def report(path: Path, pages: int = TABLE_PAGES) -> Path:
    """A PDF of `pages` A4 pages of tables with titles and notes, the same at every call."""
    chance = random.Random(5)
    vocabulary = WORDS.split()
    style = getSampleStyleSheet()
    small = ParagraphStyle("small", style["BodyText"], fontSize=7.5, leading=9)
    rule = (0.6, colors.black)
    striped = ("ROWBACKGROUNDS", (0, 2), (-1, -1), [colors.whitesmoke, colors.white])
    looks: list[list[tuple[Any, ...]]] = [
        [("GRID", (0, 0), (-1, -1), *rule)],
        [("BACKGROUND", (0, 0), (-1, 1), colors.lightgrey), striped],
        [("LINEABOVE", (0, 0), (-1, 0), *rule), ("LINEBELOW", (0, 1), (-1, 1), *rule),
         ("LINEBELOW", (0, -1), (-1, -1), *rule)],
        [],
    ]  # fmt: skip

    def table(number: int, rows: int) -> list[Flowable]:
        columns = chance.randint(2, 3)
        years = [str(2010 + year) for year in range(columns)]
        cells = [["Item", "Books", *[""] * (columns - 1), "Readers", *[""] * (columns - 1)]]
        cells.append(["", *years, *years])
        for row in range(rows):
            figures = [f"{chance.randint(100, 99_999):,}" for _ in range(2 * columns)]
            name = f"{chance.choice(vocabulary)} {chance.choice(vocabulary)}".capitalize()
            cells.append([name if row < rows - 1 else "Total", *figures])
        whole = TableStyle([
            ("SPAN", (1, 0), (columns, 0)), ("SPAN", (columns + 1, 0), (2 * columns, 0)),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"), ("FONTSIZE", (0, 0), (-1, -1), 8),
            ("TOPPADDING", (0, 0), (-1, -1), 1), ("BOTTOMPADDING", (0, 0), (-1, -1), 1),
            ("FONTNAME", (0, 0), (-1, 1), "Helvetica-Bold"), *looks[number % len(looks)],
        ])  # fmt: skip
        remark = " ".join(chance.choice(vocabulary) for _ in range(12)).capitalize()
        return [
            Paragraph(f"Table {number}. On {chance.choice(vocabulary)}", style["Heading4"]),
            Table(cells, style=whole, colWidths=[120] + [165 / columns] * (2 * columns)),
            Paragraph(f"Note: {remark}.", small),
        ]  # fmt: skip

    flowables: list[Flowable] = []
    for number in range(0, 2 * pages, 2):
        flowables += [*table(number + 1, 18), *table(number + 2, 18), PageBreak()]
    frame = Frame(72, 72, A4[0] - 144, A4[1] - 144)
    template = BaseDocTemplate(str(path), pagesize=A4, invariant=1)
    template.addPageTemplates([PageTemplate("1", [frame])])
    template.build(flowables)
    return path


ALONE: dict[str, dict[str, Any]] = {
    "liteparse": {
        "output_format": "markdown",
        "extract_blocks": True,
        "emit_word_boxes": True,
        "extract_annotations": True,
        "extract_vector_graphics": True,
        "include_complexity": True,
    },
    "liteparse to Markdown": {"output_format": "markdown"},
    "liteparse to text": {"output_format": "text"},
}


class Cost(NamedTuple):
    """Seconds."""

    cpu: float
    clock: float


def spent() -> Cost:
    """What this process and its children have cost until now, those that ended included."""
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    ticks = 0
    for child in children:
        # The name before the bracket may hold anything.
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return Cost(time.process_time() + ticks / os.sysconf("SC_CLK_TCK"), time.perf_counter())


def _since(before: Cost) -> Cost:
    after = spent()
    return Cost(after.cpu - before.cpu, after.clock - before.clock)


async def _ours(reader: Reader, path: Path) -> Cost:
    before = spent()
    await reader.read(path, mimetype=None, options=ReadOptions())
    clock = _since(before).clock
    await asyncio.sleep(SETTLE_SECONDS)
    return Cost(_since(before).cpu, clock)


async def _rounds(path: Path) -> dict[str, list[Cost]]:
    """The cost of every round by name; the rounds of all take turns."""
    reader = Reader()
    alone = {
        name: LiteParse(ocr_enabled=False, quiet=True, **settings)
        for name, settings in ALONE.items()
    }
    # The first reading starts the parser.
    await _ours(reader, path)
    costs: dict[str, list[Cost]] = {"ours": [], **{name: [] for name in alone}}
    for _ in range(ROUNDS):
        costs["ours"].append(await _ours(reader, path))
        for name, parser in alone.items():
            before = spent()
            parser.parse(path)
            costs[name].append(_since(before))
    await reader.stop()
    return costs


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        plain = asyncio.run(_rounds(book(Path(folder) / "book.pdf")))
        tables = asyncio.run(_rounds(report(Path(folder) / "report.pdf")))
    for what, costs, pages, most in (
        ("a digital page", plain, PAGES, BOUND),
        ("a page of tables", tables, TABLE_PAGES, TABLE_BOUND),
    ):
        ours = costs.pop("ours")
        for name, peer in costs.items():
            bound = most if name == "liteparse" else None
            yield _ratio(f"{what}: CPU time / {name}", "cpu", pages, ours, peer, bound)
            yield _ratio(f"{what}: time / {name}", "clock", pages, ours, peer)


def _ratio(
    name: str, kind: str, pages: int, ours: list[Cost], peer: list[Cost], bound: float | None = None
) -> Figure:
    own, other = (
        1000 / pages * statistics.median(getattr(cost, kind) for cost in costs)
        for costs in (ours, peer)
    )
    return Figure(name, own / other, bound, "lower", f"{own:.2f} ms / {other:.2f} ms")
