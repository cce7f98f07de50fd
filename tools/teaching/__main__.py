"""`python tools/teaching --corpus CORPUS PAGES MORE… --teachers TEACHERS`: teaches the page model.

CORPUS has `train` and `held`, each with `TYPESETTER/ID.pdf` and `ID.json`; `held` has typesetters
that the model never saw. Of a PDF without a JSON nothing is known but what the teachers say. PAGES
is a file for their pieces of text: made from the corpus where it is not there yet, and all that
another machine needs. MORE are such files that are there already, as of pages with truth by hand
(names begin with `hand/`).

Scans are read by the built-in OCR, a second or two a page.

TEACHERS is a file of networks, whose mean advises the one that is taught; where its last is of the
same size, that one goes on from it: half an hour on two cores for 10,000 pages. Where the file is
not there yet, four larger networks are taught first: two minutes on a graphics processor. Without,
a network learns from the truth alone. How far they are believed depends on the kind of page.
"""

import argparse
import os
import sys
import zlib
from dataclasses import replace
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import jax
import numpy as np

from carrel.server.reading.page_model import network
from teaching.dataset import LabelledPage, parsed_corpus, read_pages, taught, write_pages
from teaching.figures import report
from teaching.shelf import shelved
from teaching.train import Course, advised, save, saved, train

TEACHER = Course(128, 5, steps=8_000, noise=0.2, dropped=0.2)
MODEL = Course(64, 4, steps=12_000, noise=0.15, dropped=0.05)
FURTHER = replace(MODEL, steps=8_000, rate=2e-3, dropped=0.15, decay=0.1, kept=0.999)
"""Of a network that goes on from one of its teachers."""
_HEADING = -0.3
"""Added to a heading's logit: on 353 real pages, 7 % of the invented ones and 2 % of the right ones
are none then."""
_TEACHERS = 4
_ASIDE = 25
"""One of so many documents is not taught: figures are told on it."""


def _aside(page: LabelledPage) -> bool:
    document, _, _ = page.name.rpartition("/")
    return zlib.crc32(document.encode()) % _ASIDE == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--teachers", type=Path)
    parser.add_argument("--out", type=Path, default=network.WEIGHTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="documents of each part, to try something out")
    asked = parser.parse_args()
    workers = len(os.sched_getaffinity(0))
    if not asked.pages[0].exists():
        write_pages(parsed_corpus(asked.corpus / "train", workers, asked.most), asked.pages[0])
    pages = list(chain(*map(read_pages, asked.pages)))
    aside = [page for page in pages if _aside(page)]
    whole = [page for page in pages if not _aside(page)]
    shelf, counts, often = shelved(taught(whole, asked.seed, workers))
    print(f"{len(whole)} pages, {len(counts)} views of {counts.sum()} pieces", flush=True)
    shelf = jax.tree.map(jax.numpy.asarray, shelf)
    course, advice, start = MODEL, None, None
    if asked.teachers:
        if not asked.teachers.exists():
            seeds = range(asked.seed + 1, asked.seed + 1 + _TEACHERS)
            taught_first = train("teachers", shelf, counts, often, TEACHER, seeds)
            save(asked.teachers, jax.tree.map(lambda *each: np.stack(each), *taught_first))
        teachers = saved(asked.teachers)
        advice = advised(teachers, shelf, counts)
        if teachers[-1]["enter"].shape[1] == course.width:
            course, start = FURTHER, teachers[-1]
    course = replace(course, steps=asked.steps or course.steps)
    (model,) = train("model", shelf, counts, often, course, [asked.seed], advice, start)
    model["leave_bias"] = np.array(model["leave_bias"])
    model["leave_bias"][network.ROLES.index("heading")] += _HEADING
    save(asked.out, model)
    network.WEIGHTS = asked.out  # Figures are of what was just taught.
    report("aside", aside)
    if asked.corpus:
        for family in sorted(path for path in (asked.corpus / "held").iterdir() if path.is_dir()):
            report(family.name, parsed_corpus(family, workers, 60))


if __name__ == "__main__":
    main()
