"""Tables of documents from a competition, found and taken apart, beside camelot and pdfplumber.

CARREL_TABLES is a folder of `NAME.pdf` with `NAME-str.xml`, the cells of its tables as the table
competition of ICDAR 2013 wrote them down; without it nothing is measured. What is scored is in
`competition/adjacency.py`; the figures are means over documents. They are read by `Reader`:

- as they are, digital: no page with text may be sent to OCR;
- as pictures of 150 dpi (with CARREL_BENCHMARK_QUICK=1 every third document).

The others read them digital, in an environment of their own. The processor time is that of all
processes that take part. Pages a second are by the clock, one document at a time, and promised on
two idle cores. Needs Linux's /proc.
"""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.calibration import Judged, calibration_error, held_out_error, right_above
from benchmarks.competition.adjacency import Score
from benchmarks.competition.documents import Document, documents
from benchmarks.digital_pages import SETTLE_SECONDS, spent
from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions, ReadResult
from carrel.server.reading.reader import Reader
from conformance.environments import NotInstalled, environment, python
from support.documents import page_pictures
from support.tables import Cell, Grid, grids_of

DPI = 150
PEERS = {"camelot": "camelot-py==2.0.0", "pdfplumber": "pdfplumber==0.11.10"}
_OPTIONS = ReadOptions(table_format="html", granularity="page")


@dataclass
class Result:
    """What one reader made of the documents."""

    scores: list[Score] = field(default_factory=list)
    certainties: list[list[Judged]] = field(default_factory=list)
    """By document, of each two neighbouring cells, and whether they are neighbours."""
    pages: int = 0
    pages_by_ocr: int = 0
    seconds: float = 0.0
    """Of processor time."""
    clock: float = 0.0
    """Seconds by the clock, where pages are counted."""

    def figures(
        self, name: str, bound: float | None = None, pace: float | None = None
    ) -> Iterable[Figure]:
        """The means over the documents, and the time; `pace` is promised, in pages a second."""
        pages = f"{len(self.scores)} documents, {self.pages} pages" if self.pages else ""
        means = [statistics.fmean(values) for values in zip(*self.scores, strict=True)]
        detail = f"P {means[0]:.3f}, R {means[1]:.3f}" + (f", {pages}" if pages else "")
        yield Figure(f"{name}: F1", means[2], bound, detail=detail)
        yield Figure(f"{name}: seconds of processor", self.seconds, better="lower")
        every = [one for document in self.certainties for one in document]
        if every:
            yield Figure(
                f"{name}: certainty of neighbouring cells, away from how often they are right",
                calibration_error(every),
                0.03,
                "lower",
                f"those of 95 % or more are right {right_above(every, 0.95):.3f}",
            )
            yield Figure(
                f"{name}: the same, fitted to four fifths of the documents, on the others",
                held_out_error(self.certainties),
                0.05,
                "lower",
            )
        if self.clock:
            yield Figure(f"{name}: pages a second", self.pages / self.clock, pace)


def measure() -> Iterable[Figure]:
    folder = Path(os.environ.get("CARREL_TABLES", ""))
    found = documents(folder) if os.environ.get("CARREL_TABLES") else []
    if not found:
        print("  skipped: CARREL_TABLES is no folder with NAME.pdf and NAME-str.xml")
        return
    digital = asyncio.run(_ours(found, digital=True))
    yield from digital.figures("digital", 0.97, pace=4)
    yield Figure("digital: pages sent to OCR", digital.pages_by_ocr, 0, "lower")
    for name in PEERS:
        yield from _peer(name, found)
    step = 3 if os.environ.get("CARREL_BENCHMARK_QUICK") else 1
    with tempfile.TemporaryDirectory() as scans:
        pictured = [_pictured(document, Path(scans)) for document in found[::step]]
        yield from asyncio.run(_ours(pictured, digital=False)).figures(
            f"pictures of {DPI} dpi", 0.93, pace=1
        )


def _pictured(document: Document, folder: Path) -> Document:
    """The same document as pictures of its pages."""
    path = folder / document.path.name
    first, *others = page_pictures(document.path, DPI)
    first.save(path, "PDF", resolution=DPI, save_all=True, append_images=others)
    return Document(path, document.truths)


async def _ours(found: Sequence[Document], *, digital: bool) -> Result:
    reader, result = Reader(), Result()
    by_ocr: list[tuple[Document, int]] = []
    # The first reading starts what is needed; its time is no document's.
    await reader.read(found[0].path, mimetype=None, options=_OPTIONS)
    await asyncio.sleep(SETTLE_SECONDS)
    before = spent()
    for document in found:
        reading = await reader.read(document.path, mimetype=None, options=_OPTIONS)
        result.scores.append(document.score(_grids(reading)))
        result.certainties.append(
            document.certainties(
                [
                    (table.structure_confidence_score or 0.0, grid)
                    for page in reading.pages
                    for table in page.tables
                    for grid in grids_of(table.content)
                ]
            )
        )
        result.pages += len(reading.pages)
        if reading.ocr_used:
            by_ocr.append((document, len(reading.pages)))
    result.clock = spent().clock - before.clock
    await asyncio.sleep(SETTLE_SECONDS)
    result.seconds = spent().cpu - before.cpu
    for document, pages in by_ocr if digital else ():
        result.pages_by_ocr += await _pages_by_ocr(reader, document, pages)
    await reader.stop()
    return result


async def _pages_by_ocr(reader: Reader, document: Document, pages: int) -> int:
    """How many pages of a document need OCR."""
    used = 0
    for number in range(pages):
        options = ReadOptions(pages=[range(number, number + 1)])
        reading = await reader.read(document.path, mimetype=None, options=options)
        used += reading.ocr_used
    return used


def _grids(reading: ReadResult) -> list[Grid]:
    return [
        grid for page in reading.pages for table in page.tables for grid in grids_of(table.content)
    ]


def _peer(name: str, found: Sequence[Document]) -> Iterable[Figure]:
    try:
        folder = environment([PEERS[name]])
    except NotInstalled as error:
        print(f"  {name} is skipped, it cannot be installed: {error}")
        return
    script = Path(__file__).parent / "competition" / "peer.py"
    paths = [str(document.path) for document in found]
    command = [str(python(folder)), str(script), name, *paths]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    scores = [
        document.score([_grid(table) for table in tables])
        for document, tables in zip(found, answer["tables"], strict=True)
    ]
    yield from Result(scores, seconds=answer["seconds"]).figures(f"{name}, digital")


def _grid(rows: Sequence[Sequence[str]]) -> Grid:
    return [
        Cell(row, column, 1, 1, text)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]
