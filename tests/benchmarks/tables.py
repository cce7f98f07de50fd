"""Tables keep their cells: cells right of all cells, against a promise for each kind.

A cell is right when its place, its spans and its text are; cells too many count as wrong ones. The
pages are drawn with one or two tables each and text around them: numbers, cells of several lines,
empty cells, spans, four font sizes, two fonts. They are read by `Reader`, file in, HTML tables out:

- ruled and unruled tables from 36 digital pages each, and beside them liteparse's own tables;
- ruled tables from the pictures of 6 pages at 150 and 200 dpi, where a text is right when nine
  tenths of its letters are.

On pages of prose, columns, lists, code, boxes, letters and contents every table is a false one.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from liteparse import LiteParse

from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader
from support.documents import page_pictures
from support.tables import Cell, Grid, Score, grids_of, plain_pdf, score, tables_pdf

SEEDS = range(3)
SCANNED_PAGES = 6
LETTERS = 0.9

Read = Callable[[Path], list[list[Grid]]]


def measure() -> Iterable[Figure]:
    """The figures for each kind of page."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        reader = Reader()

        def read(path: Path) -> list[list[Grid]]:
            return runner.run(_read(reader, path))

        try:
            yield from _digital(Path(folder), read)
            yield from _scanned(Path(folder), read)
            yield _false(Path(folder), read)
        finally:
            runner.run(reader.stop())


async def _read(reader: Reader, path: Path) -> list[list[Grid]]:
    reading = await reader.read(path, mimetype=None, options=ReadOptions(table_format="html"))
    return [
        [grid for table in page.tables for grid in grids_of(table.content)]
        for page in reading.pages
    ]


def _liteparse(path: Path) -> list[list[Grid]]:
    parsed = LiteParse(ocr_enabled=False, extract_blocks=True, quiet=True).parse(path)
    return [
        [
            [
                Cell(row, column, 1, 1, cell.text)
                for row, cells in enumerate(
                    [*([block.header] if block.header else []), *block.rows]
                )
                for column, cell in enumerate(cells)
            ]
            for block in page.blocks
            if block.kind == "table"
        ]
        for page in parsed.pages
    ]


def _digital(folder: Path, read: Read) -> Iterable[Figure]:
    for kind, bound in (("ruled", 0.95), ("unruled", 0.85)):
        ours, theirs = Score(), Score()
        for seed in SEEDS:
            path = folder / f"{kind}-{seed}.pdf"
            expected = tables_pdf(path, ruled=kind == "ruled", seed=seed)
            ours += _scored(expected, read(path))
            theirs += _scored(expected, _liteparse(path))
        yield _figure(f"{kind}, digital", ours, bound)
        yield _figure(f"{kind}, digital, liteparse alone", theirs)


def _scanned(folder: Path, read: Read) -> Iterable[Figure]:
    path = folder / "scanned.pdf"
    expected = tables_pdf(path, ruled=True, seed=SEEDS[-1] + 1, pages=SCANNED_PAGES)
    for dpi in (150, 200):
        first, *others = page_pictures(path, dpi)
        scan = folder / f"scan-{dpi}.pdf"
        first.save(scan, "PDF", resolution=dpi, save_all=True, append_images=others)
        yield _figure(f"ruled, scanned at {dpi} dpi", _scored(expected, read(scan), LETTERS), 0.8)


def _false(folder: Path, read: Read) -> Figure:
    path = folder / "plain.pdf"
    plain_pdf(path)
    found = read(path)
    return Figure("false tables", sum(map(len, found)), 0, "lower", f"{len(found)} pages")


def _scored(
    expected: Sequence[Sequence[Grid]], found: Sequence[Sequence[Grid]], alike: float = 1.0
) -> Score:
    total = Score()
    for page, tables in zip(expected, found, strict=True):
        total += score(page, tables, alike=alike)
    return total


def _figure(name: str, result: Score, bound: float | None = None) -> Figure:
    detail = f"{result.cells} cells, {result.false_tables} false tables"
    return Figure(name, result.part, bound, detail=detail)
