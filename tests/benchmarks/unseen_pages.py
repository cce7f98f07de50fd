"""Pages of typesetters and looks that nothing was taught on, read beside other readers.

CARREL_UNSEEN is the held half of a corpus that `tools/corpus` made (a folder of families, each of
`ID.pdf` with its truth `ID.json`); without it nothing is measured. `CARREL_UNSEEN_LIMIT` is how
many documents of each family are read (all). By family, and over all of them:

- order: the normalised indel similarity of the texts, blanks left out;
- tables: TEDS, the edit distance of the trees of rows and cells with their spans and texts, each
  table held against the one most like it; tables too many count as 0;
- headings: the same of the tree of headings, by nesting;
- all: their mean.

The same documents are read by liteparse, and by pymupdf4llm and markitdown in environments of their
own. `python -m benchmarks.unseen FOLDER` prints one reader's figures by document.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.report import Figure
from benchmarks.unseen.readers import READERS, Readings
from benchmarks.unseen.scoring import Score, score
from benchmarks.unseen.structure import Truth, answer, truth
from conformance.environments import NotInstalled


def families(folder: Path, limit: int | None = None) -> dict[str, list[Truth]]:
    """Return the documents of each family, in the order of their names."""
    return {
        family.name: [truth(path) for path in sorted(family.glob("*.pdf"))[:limit]]
        for family in sorted(folder.iterdir())
        if family.is_dir()
    }


def scores(documents: Sequence[Truth], readings: Readings) -> list[Score]:
    return [
        score(document.structure, answer(markdown))
        for document, markdown in zip(documents, readings.markdown, strict=True)
    ]


def means(found: Sequence[Score]) -> dict[str, float]:
    """Return the mean of each figure over the documents that have what it is of."""
    values = {
        "order": [one.order for one in found],
        "tables": [one.tables for one in found if one.tables is not None],
        "headings": [one.headings for one in found if one.headings is not None],
    }
    known = {name: fmean(some) for name, some in values.items() if some}
    return {**known, "all": fmean(known.values())}


def measure() -> Iterable[Figure]:
    folder = Path(os.environ.get("CARREL_UNSEEN", ""))
    limit = int(os.environ.get("CARREL_UNSEEN_LIMIT", "0")) or None
    found = families(folder, limit) if os.environ.get("CARREL_UNSEEN") else {}
    if not any(found.values()):
        print("  skipped: CARREL_UNSEEN is no folder of pages made by tools/corpus")
        return
    for name, read in READERS.items():
        every: list[Score] = []
        seconds = 0.0
        try:
            for family, documents in found.items():
                readings = read([document.path for document in documents])
                seconds += readings.seconds
                scored = scores(documents, readings)
                every += scored
                yield from _figures(f"{name}, {family}", scored, documents)
        except NotInstalled as error:
            print(f"  {name} is skipped, it cannot be installed: {error}")
            continue
        yield from _figures(
            f"{name}, all families",
            every,
            [one for documents in found.values() for one in documents],
        )
        pages = sum(document.pages for documents in found.values() for document in documents)
        yield Figure(f"{name}: seconds of processor a page", seconds / pages, better="lower")


def _figures(name: str, scored: Sequence[Score], documents: Sequence[Truth]) -> Iterable[Figure]:
    figures = means(scored)
    rest = ", ".join(f"{key} {value:.3f}" for key, value in figures.items() if key != "all")
    pages = sum(document.pages for document in documents)
    false = sum(one.false_tables for one in scored)
    detail = f"{rest}; {false} tables where there are none; {len(scored)} documents, {pages} pages"
    yield Figure(name, figures["all"], detail=detail)
