"""A digital page costs little more than liteparse, the library that finds its text.

One PDF of 100 pages (prose in one and two columns, headings, lists, tables, code, links, running
heads) is read in turn by:

- `Reader`: file in, pages as they travel out, its parser process and the pipe from it included;
- liteparse alone, within this process, so that its results cross no pipe: asked for what a page is
  made from (Markdown, blocks, words, rules, links, and whether the page needs OCR). For
  information, also asked for Markdown only, and for text only.

Both have their processes warm. Reading uses a second core where one is free, liteparse does not.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
ROUNDS = 7
BOUND = 2.0
SETTLE_SECONDS = 1.5
"""A reading leaves its successor's parser starting up: nobody is measured meanwhile."""

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


ALONE: dict[str, dict[str, Any]] = {
    "liteparse": {
        "output_format": "markdown",
        "extract_blocks": True,
        "extract_annotations": True,
        "extract_vector_graphics": True,
        "include_complexity": True,
    },
    "liteparse to Markdown": {"output_format": "markdown"},
    "liteparse to text": {"output_format": "text"},
}


async def _rounds(path: Path) -> dict[str, list[float]]:
    """Seconds of every round by name; the rounds of all take turns."""
    reader = Reader()
    await reader.start()
    alone = {
        name: LiteParse(ocr_enabled=False, quiet=True, **settings)
        for name, settings in ALONE.items()
    }
    # The first reading starts the parsers, and leaves the next one warming up behind it.
    await reader.read(path, mimetype=None, options=ReadOptions())
    times: dict[str, list[float]] = {"ours": [], **{name: [] for name in alone}}
    for _ in range(ROUNDS):
        await asyncio.sleep(SETTLE_SECONDS)
        start = time.perf_counter()
        await reader.read(path, mimetype=None, options=ReadOptions())
        times["ours"].append(time.perf_counter() - start)
        await asyncio.sleep(SETTLE_SECONDS)
        for name, parser in alone.items():
            start = time.perf_counter()
            parser.parse(path)
            times[name].append(time.perf_counter() - start)
    await reader.stop()
    return times


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        times = asyncio.run(_rounds(book(Path(folder) / "book.pdf")))
    ours = statistics.median(times.pop("ours"))
    for name, seconds in times.items():
        peer = statistics.median(seconds)
        yield Figure(
            f"a digital page: time / {name}",
            ours / peer,
            BOUND if name == "liteparse" else None,
            "lower",
            f"{1000 * ours / PAGES:.2f} ms / {1000 * peer / PAGES:.2f} ms",
        )
