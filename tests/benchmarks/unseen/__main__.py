"""`python -m benchmarks.unseen FOLDER`: one reader's figures on a family or on a held half.

FOLDER holds `ID.pdf` with `ID.json`, or folders of them. The worst documents are named last.
"""

import argparse
from pathlib import Path

from benchmarks.unseen.readers import READERS
from benchmarks.unseen.scoring import Score
from benchmarks.unseen.structure import Truth, truth
from benchmarks.unseen_pages import families, means, scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.unseen", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, help="documents of each family")
    parser.add_argument("--reader", choices=READERS, default="carrel")
    parser.add_argument("--worst", type=int, default=8, help="how many documents are named")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.pdf"))[: options.limit]
    found = (
        {options.folder.name: [truth(path) for path in paths]}
        if paths
        else families(options.folder, options.limit)
    )
    every: list[tuple[Truth, Score]] = []
    for family, documents in found.items():
        if documents:
            readings = READERS[options.reader]([document.path for document in documents])
            scored = scores(documents, readings)
            every += zip(documents, scored, strict=True)
            _print(f"{family} ({len(documents)})", scored)
    _print("all", [one for _, one in every])
    every.sort(key=lambda pair: pair[1].all)
    for document, one in every[: options.worst]:
        _print(str(document.path), [one])


def _print(name: str, scored: list[Score]) -> None:
    figures = "  ".join(f"{key} {value:.3f}" for key, value in means(scored).items())
    print(f"{name:36s} {figures}", flush=True)


if __name__ == "__main__":
    main()
