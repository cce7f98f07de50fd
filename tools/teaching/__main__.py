"""`python tools/teaching CORPUS`: teaches the page model and writes its weights and figures.

CORPUS has `train` and `held`, each with `TYPESETTER/ID.pdf` and `ID.json`. Only `train` is taught;
`held` has typesetters that the model never saw. A step takes a quarter of a second of one core,
parsing about 30 ms a page.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from carrel.server.reading.page_model.network import WEIGHTS
from teaching.dataset import gather
from teaching.figures import report
from teaching.train import initial, load, save, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--start", type=Path, help="go on from these weights: fewer pages do")
    parser.add_argument("--rate", type=float, default=3e-3, help="of learning, at its highest")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="documents of each part, to try something out")
    parser.add_argument("--cache", type=Path, help="keep parsed pages in this folder")
    asked = parser.parse_args()
    pages = gather(asked.corpus / "train", asked.seed, asked.most, cache=asked.cache)
    print(f"{len(pages)} pages, {sum(len(page.roles) for page in pages)} pieces", flush=True)
    weights = load(asked.start) if asked.start else initial(pages, asked.seed)
    train(pages, weights, asked.seed, asked.steps, asked.rate, lambda now: save(now, asked.out))
    for family in sorted(path for path in (asked.corpus / "held").iterdir() if path.is_dir()):
        report(family.name, gather(family, asked.seed, 60, scans=False))


if __name__ == "__main__":
    main()
