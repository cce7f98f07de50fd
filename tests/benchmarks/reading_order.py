"""Text in the order in which a person reads it, and headings with their levels.

Documents of ten designs (reports, two-column papers, charts between columns, three-column
newsletters, newspapers, side notes, forms, slides, reference cards, letters), each drawn four times
with other words, are read by `Reader`. Beside each design's figures are liteparse's own, whose
Markdown is read in the same way:

- order: texts that follow the one before them, and are whole, per text;
- headings: the F1 of their texts, and the part of those found that have their level;
- running heads that stand in the text;
- certainty: how far a block's `order_confidence_score` is from how often such blocks follow the
  right one, in documents that no score was fitted to: twelve more of each design, as they are, and
  in pictures of 150 dpi of the first of these.
"""

import asyncio
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from liteparse import LiteParse

from benchmarks.calibration import calibration_error, right_above
from benchmarks.order_certainty import certainties
from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader
from support.designs import DESIGNS, Truth
from support.documents import page_pictures

SEEDS = range(4)
HELD_OUT = range(112, 124)
"""The documents that certainty is measured on: the scores were fitted to those before."""
DPI = 150
_OPTIONS = ReadOptions(
    extract_header=True, extract_footer=True, include_blocks=True, granularity="word"
)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)


@dataclass
class Counts:
    """What was right in some documents."""

    texts: int = 0
    in_order: int = 0
    headings: int = 0
    found: int = 0
    right: int = 0
    levelled: int = 0
    heads: int = 0
    heads_in_text: int = 0

    def add(self, truth: Truth, markdown: str) -> None:
        """Compares a document's Markdown with what was drawn."""
        text, end = _plain(markdown), 0
        for expected in map(_plain, truth.texts):
            at = text.find(expected, end)
            self.texts += 1
            if at >= 0:
                self.in_order += 1
                end = at + len(expected)
        self.texts += len(truth.asides)
        self.in_order += sum(_plain(aside) in text for aside in truth.asides)
        found = {_plain(title): len(marks) for marks, title in _HEADING.findall(markdown)}
        expected_levels = {_plain(title): level for level, title in truth.headings}
        right = found.keys() & expected_levels.keys()
        self.headings += len(expected_levels)
        self.found += len(found)
        self.right += len(right)
        self.levelled += sum(found[title] == expected_levels[title] for title in right)
        self.heads += len(truth.heads)
        lines = {_plain(line) for line in markdown.splitlines()}
        self.heads_in_text += sum(_plain(head) in lines for head in truth.heads)

    def __add__(self, other: "Counts") -> "Counts":
        mine, others = vars(self), vars(other)
        return Counts(**{name: mine[name] + others[name] for name in mine})


class Read(NamedTuple):
    ours: Counts
    liteparse: Counts
    certainties: list[tuple[float, bool]]


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        read = asyncio.run(_read_all(Path(folder)))
    for name, counts in read.items():
        yield _figure(f"{name}: texts in order", counts.ours.in_order, counts.ours.texts, counts)
    ours = sum((counts.ours for counts in read.values()), Counts())
    theirs = sum((counts.liteparse for counts in read.values()), Counts())
    yield Figure("texts in order", ours.in_order / ours.texts, 0.97)
    yield Figure("texts in order, liteparse alone", theirs.in_order / theirs.texts)
    yield Figure("headings: F1", _f1(ours), 0.95, detail=f"{ours.headings} headings")
    yield Figure("headings: F1, liteparse alone", _f1(theirs))
    yield Figure("headings: right level", ours.levelled / max(1, ours.right), 0.95)
    yield Figure("headings: right level, liteparse", theirs.levelled / max(1, theirs.right))
    certain = [one for counts in read.values() for one in counts.certainties]
    yield from _certainty(certain)
    yield Figure("running heads in the text", ours.heads_in_text, 0, "lower", f"of {ours.heads}")


def _figure(name: str, right: int, of: int, counts: Read) -> Figure:
    theirs = counts.liteparse
    headings = f"headings F1 {_f1(counts.ours):.2f}, {_f1(theirs):.2f} by liteparse alone"
    return Figure(
        name, right / of, detail=f"{of} texts, liteparse {theirs.in_order / of:.2f}; {headings}"
    )


def _certainty(certain: Sequence[tuple[float, bool]]) -> Iterable[Figure]:
    right = sum(right for _, right in certain) / len(certain)
    yield Figure(
        "certainty of the order, away from how often it is right",
        calibration_error(certain),
        0.03,
        "lower",
        f"{len(certain)} blocks, {right:.3f} right",
    )
    sure = sum(certainty >= 0.95 for certainty, _ in certain)
    yield Figure(
        "blocks with a certainty of 95 % or more that follow the right one",
        right_above(certain, 0.95),
        0.95,
        detail=f"{sure} of {len(certain)} blocks",
    )


def _f1(counts: Counts) -> float:
    return 2 * counts.right / max(1, counts.headings + counts.found)


async def _read_all(folder: Path) -> dict[str, Read]:
    reader = Reader()
    found: dict[str, Read] = {}
    for name, draw in DESIGNS.items():
        found[name] = Read(Counts(), Counts(), [])
        for seed in SEEDS:
            path = folder / f"{name}-{seed}.pdf"
            truth = draw(path, seed)
            reading = await reader.read(path, mimetype=None, options=_OPTIONS)
            found[name].ours.add(truth, _joined([page.markdown for page in reading.pages]))
            parser = LiteParse(ocr_enabled=False, quiet=True, output_format="markdown")
            found[name].liteparse.add(truth, parser.parse(path).text)
        for seed in HELD_OUT:
            path = folder / f"{name}-{seed}.pdf"
            truth = draw(path, seed)
            reading = await reader.read(path, mimetype=None, options=_OPTIONS)
            found[name].certainties.extend(certainties(reading.pages, truth))
        path = folder / f"{name}-scanned.pdf"
        truth = draw(folder / "drawn.pdf", HELD_OUT[0])
        first, *others = page_pictures(folder / "drawn.pdf", DPI)
        first.save(path, "PDF", resolution=DPI, save_all=True, append_images=others)
        reading = await reader.read(path, mimetype=None, options=_OPTIONS)
        found[name].certainties.extend(certainties(reading.pages, truth))
    await reader.stop()
    return found


def _joined(pages: Sequence[str]) -> str:
    return "\n\n".join(pages)


def _plain(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(filter(str.isalnum, text)).casefold()
