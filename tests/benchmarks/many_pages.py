"""A thousand pages need no more memory than ten.

PDFs of 10 and of 1000 digital pages are read, each by a fresh server process with a fresh parser;
compared are the most memory the parser ever had, and how much more the server had at the end than
its answer as JSON is long. Needs Linux's /proc.
"""

import asyncio
import contextlib
import multiprocessing
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.digital_pages import book
from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader
from support.process import children

FEW, MANY = 10, 1000
BOUND = 1.25
"""Times as much memory; the file itself, which a parser holds, is part of it."""

MB = 1_000_000
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


class Need(NamedTuple):
    """Bytes."""

    parser: int
    server: int
    answer: int


def _peak(process: int) -> int:
    """The most memory a process ever had, as Linux tells; 0 when it is gone."""
    try:
        found = _PEAK.search(Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return 1024 * int(found[1]) if found else 0


async def _highest_child() -> int:
    """The highest peak among this process's children, when cancelled."""
    highest = 0
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            highest = max([highest, *map(_peak, children(os.getpid()))])
            await asyncio.sleep(0.01)
    return highest


async def _read(path: Path) -> Need:
    reader = Reader()
    before = _peak(os.getpid())
    watching = asyncio.create_task(_highest_child())
    reading = await reader.read(path, mimetype=None, options=ReadOptions())
    watching.cancel()
    server = _peak(os.getpid()) - before
    await reader.stop()
    answer = sum(len(page.model_dump_json()) for page in reading.pages)
    return Need(await watching, server, answer)


def need(path: Path) -> Need:
    """What reading a document takes; in a process that did nothing before."""
    return asyncio.run(_read(path))


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        few, many = (
            # A forked process would begin with its parent's memory.
            multiprocessing.get_context("spawn")
            .Pool(1)
            .apply(need, [book(Path(folder) / f"{pages}.pdf", pages)])
            for pages in (FEW, MANY)
        )
    yield Figure(
        f"parser's memory for {MANY} pages / for {FEW}",
        many.parser / few.parser,
        BOUND,
        "lower",
        f"{many.parser / MB:.0f} MB / {few.parser / MB:.0f} MB",
    )
    yield Figure(
        "server's memory for the answer / the answer",
        many.server / many.answer,
        detail=f"{many.server / MB:.1f} MB / {many.answer / MB:.1f} MB",
    )
