"""Scanned pages read beside tesseract, word by word, against the text layer they were made from.

40 pages of A4 (4 fonts, 8 to 12 points, one and two columns, five languages, tables and lists)
become pictures of 150 or 200 dpi: clean, skewed by 2°, noisy, and turned by a quarter, a half or
three quarters; a page that is clean at 150 dpi is skewed at 200, and so on. 12 pages of newspapers,
two narrow justified columns with a rule between them, are noisy too. Ours goes the whole way of a
document, by parser and OCR process, and is not told the language; tesseract is, and finds the turn
itself. It has the OMP_THREAD_LIMIT that suits it better here: its default spins.

Clean pages are read by one engine after the other, and timed: what a person waits for a page. The
others are read by both at once, to spare time. With CARREL_BENCHMARK_QUICK=1 it is every third
page.
"""

import asyncio
import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration import calibration_error, right_above
from benchmarks.digital_pages import Cost, spent
from benchmarks.ocr.score import order, word_f1, words
from benchmarks.ocr.sheets import (
    RESOLUTIONS,
    SCANNERS,
    Sheet,
    missing_fonts,
    newspapers,
    sheets,
)
from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader

INSTALL = (
    "apt-get install tesseract-ocr tesseract-ocr-fra tesseract-ocr-deu tesseract-ocr-spa"
    " tesseract-ocr-ces fonts-dejavu-core fonts-liberation"
)
MEAN_F1 = {
    "clean": 0.99,
    "skewed": 0.985,
    "noisy": 0.98,
    "turned": 0.98,
    "coarse": 0.98,
    "faxed": 0.98,
    "photographed": 0.98,
    "newspaper": 0.98,
}
_OPTIONS = ReadOptions(extract_header=True, extract_footer=True, granularity="word")
_TRIED = 6
"""Pages that show which number of threads suits tesseract."""
_TOGETHER = 16
"""Pages that are read two at a time, for the throughput."""


class Reading(NamedTuple):
    """A page's text, and its words with their certainties, where the engine says them."""

    text: str
    words: tuple[tuple[str, float], ...] = ()


@dataclass
class Scores:
    """What one engine made of the pages of one scanner."""

    f1: list[float] = field(default_factory=list)
    order: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """Seconds too; of several pages at once they are not known apart."""
    certainties: list[tuple[float, bool]] = field(default_factory=list)
    """Of each word, and whether it is right."""

    def add(self, sheet: Sheet, reading: Reading, cost: Cost) -> None:
        text = reading.text
        read, lines = words(text), [found for line in sheet.lines if (found := words(line))]
        self.f1.append(word_f1(read, [word for line in lines for word in line]))
        self.order.append(order(read, lines))
        self.seconds.append(cost.clock)
        self.processor.append(cost.cpu)
        rest = Counter(word for line in lines for word in line)
        for word, certainty in reading.words:
            for part in words(word):
                self.certainties.append((certainty, rest[part] > 0))
                rest[part] -= 1


def measure() -> Iterable[Figure]:
    """Figures of accuracy by scanner, then of speed.

    Raises:
        SystemExit: tesseract or a font is not installed; the message has the command.
    """
    if missing_fonts() or shutil.which("tesseract") is None:
        raise SystemExit(f"Tesseract, its languages or fonts are not installed: {INSTALL}")
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        step = 3 if os.environ.get("CARREL_BENCHMARK_QUICK") else 1
        pages = list(islice(sheets(Path(folder)), None, None, step))
        yield from evaluate(pages, Path(folder), runner)


def evaluate(pages: list[Sheet], folder: Path, runner: asyncio.Runner) -> Iterator[Figure]:
    """The figures of these pages; pictures are kept in `folder` while they are read."""
    reader = Reader()
    try:
        threads = runner.run(_better_threads(pages, folder))
        for scanner in SCANNERS:
            yield from runner.run(_compare(scanner, pages, folder, reader, threads))
        printed = list(newspapers(folder))
        yield from runner.run(_compare("noisy", printed, folder, reader, threads, kind="newspaper"))
        yield runner.run(_together(pages, folder, reader, threads))
    finally:
        runner.run(reader.stop())


async def _better_threads(pages: list[Sheet], folder: Path) -> int:
    """The OMP_THREAD_LIMIT with which tesseract is faster on most pages."""
    won = 0
    for number, sheet in enumerate(pages[:_TRIED]):
        path = _picture(sheet, number, "clean", folder)
        _, cost = await _timed(_tesseract(path, sheet.language, 1))
        # On a busy machine two threads may wait for each other for minutes.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(cost.clock):
                await _tesseract(path, sheet.language, 2)
                won += 1
    return 2 if won > min(_TRIED, len(pages)) / 2 else 1


async def _compare(
    scanner: str,
    pages: list[Sheet],
    folder: Path,
    reader: Reader,
    threads: int,
    *,
    kind: str = "",
) -> list[Figure]:
    """Both engines on every page of one scanner; `kind` names pages that are not the usual."""
    kind = kind or scanner
    ours, theirs = Scores(), Scores()
    if scanner == "clean":
        await _ours(reader, _picture(pages[0], 0, scanner, folder))  # loads the models
    for number, sheet in enumerate(pages):
        path = _picture(sheet, number, scanner, folder)
        readings = (_ours(reader, path), _tesseract(path, sheet.language, threads))
        if scanner == "clean":
            results = [await _timed(reading) for reading in readings]
        else:
            results = await asyncio.gather(*map(_timed, readings))
        for scores, result in zip((ours, theirs), results, strict=True):
            scores.add(sheet, *result)
    mean, other = statistics.fmean(ours.f1), statistics.fmean(theirs.f1)
    figures = [
        Figure(f"{kind}: mean word F1", mean, MEAN_F1[kind], detail=f"tesseract {other:.4f}"),
        Figure(f"{kind}: F1 behind tesseract", other - mean, 0.002, "lower"),
        Figure(
            f"{kind}: least F1 of a page",
            min(ours.f1),
            0.95,
            detail=f"{_worst(ours, pages)}; tesseract {min(theirs.f1):.4f}",
        ),
        Figure(
            f"{kind}: neighbouring lines in order",
            statistics.fmean(ours.order),
            0.98,
            detail=f"tesseract {statistics.fmean(theirs.order):.4f}",
        ),
    ]
    figures += _certainty(kind, ours)
    if scanner == "clean":
        figures += _pace(ours, theirs, threads)
    return figures


def _certainty(scanner: str, ours: Scores) -> Iterator[Figure]:
    certain = ours.certainties
    yield Figure(
        f"{scanner}: words read with a certainty of 95 % or more that are right",
        right_above(certain, 0.95),
        0.95,
        detail=f"{sum(certainty >= 0.95 for certainty, _ in certain)} of {len(certain)} words",
    )
    yield Figure(
        f"{scanner}: certainty of words, away from how often they are right",
        calibration_error(certain),
        0.02,
        "lower",
    )


def _worst(scores: Scores, pages: list[Sheet]) -> str:
    return pages[scores.f1.index(min(scores.f1))].name


def _pace(ours: Scores, theirs: Scores, threads: int) -> Iterator[Figure]:
    own, other = sum(ours.processor), sum(theirs.processor)
    yield Figure(
        "clean: processor time of a page, beside tesseract",
        own / other,
        1.5,
        "lower",
        f"{own / len(ours.f1):.2f} s with layout; tesseract {other / len(theirs.f1):.2f} s",
    )
    own, other = statistics.median(ours.seconds), statistics.median(theirs.seconds)
    yield Figure(
        "clean: median time of a page, beside tesseract",
        own / other,
        1,
        "lower",
        f"{own:.2f} s; tesseract {other:.2f} s with OMP_THREAD_LIMIT={threads}",
    )


async def _together(pages: list[Sheet], folder: Path, reader: Reader, threads: int) -> Figure:
    """Pages a minute when both cores have work."""
    chosen = [
        (_picture(sheet, number, "clean", folder), sheet.language)
        for number, sheet in enumerate(pages[:_TOGETHER])
    ]
    ours = await _rate([_ours(reader, path) for path, _ in chosen])
    theirs = await _rate([_tesseract(path, language, threads) for path, language in chosen])
    return Figure(
        "throughput on two cores, beside tesseract",
        ours / theirs,
        detail=f"{ours:.1f} and {theirs:.1f} pages a minute",
    )


async def _rate(readings: list[Coroutine[None, None, Reading]]) -> float:
    """Readings a minute, two at a time."""
    places = asyncio.Semaphore(2)

    async def one(reading: Coroutine[None, None, Reading]) -> None:
        async with places:
            await reading

    started = time.monotonic()
    await asyncio.gather(*map(one, readings))
    return 60 * len(readings) / (time.monotonic() - started)


def _picture(sheet: Sheet, number: int, scanner: str, folder: Path) -> Path:
    # Languages and columns alternate from page to page: resolutions from pair to pair.
    dpi = RESOLUTIONS[(number // 2 + list(SCANNERS).index(scanner)) % 2]
    path = folder / f"{sheet.path.stem}-{scanner}-{dpi}.png"
    if not path.exists():
        picture = SCANNERS[scanner](sheet.picture(dpi), number)
        picture.save(path, dpi=(dpi, dpi), compress_level=1)
    return path


async def _timed(reading: Coroutine[None, None, Reading]) -> tuple[Reading, Cost]:
    before, ended = spent(), os.times().children_user + os.times().children_system
    result = await reading
    after, times = spent(), os.times()
    ended = times.children_user + times.children_system - ended
    return result, Cost(after.cpu - before.cpu + ended, after.clock - before.clock)


async def _ours(reader: Reader, path: Path) -> Reading:
    (page,) = (await reader.read(path, mimetype=None, options=_OPTIONS)).pages
    text = "\n".join(filter(None, (page.header, page.markdown, page.footer)))
    scores = page.confidence_scores
    found = (scores and scores.word_confidence_scores) or []
    return Reading(text, tuple((word.text, word.confidence) for word in found))


async def _tesseract(path: Path, language: str, threads: int) -> Reading:
    process = await asyncio.create_subprocess_exec(
        "tesseract", str(path), "-", "-l", language, "--psm", "1",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OMP_THREAD_LIMIT": str(threads)},
    )  # fmt: skip
    try:
        text, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise SystemExit(f"tesseract does not read {language}: {INSTALL}")
    return Reading(text.decode())
