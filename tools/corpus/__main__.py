"""`python tools/corpus …`: takes content out of clones, and makes pages with their truth."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus.damage import scans
from corpus.gather import gather
from corpus.make import make
from corpus.tagged import take


def main() -> None:
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__)
    parser.add_argument("--content", type=Path, help="folder of public texts")
    parser.add_argument("--clones", type=Path, help="take the content out of clones in this folder")
    parser.add_argument("--out", type=Path, help="where SPLIT/TYPESETTER/ID.pdf and .json go")
    parser.add_argument("--split", choices=("train", "held"), default="train")
    parser.add_argument("--typesetter", default="weasyprint")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scans", action="store_true", help="scan pages that are there already")
    parser.add_argument("--tagged", action="store_true", help="take pages of tagged PDFs in clones")
    parser.add_argument("--without", default="", help="repositories, or blobs, passed over")
    options = parser.parse_args()
    if options.tagged:
        counts = take(options.clones, options.out, set(options.without.split()))
        print(*(f"{count} {what}" for what, count in counts.most_common()), sep="\n")
        return
    if options.clones:
        print(f"{gather(options.clones, options.content)} files in {options.content}")
    if options.scans:
        folder = options.out / options.split / options.typesetter
        print(f"{scans(folder, options.pages, options.seed)} pages scanned")
    elif options.out:
        made = make(
            options.content,
            options.out,
            options.split,
            options.typesetter,
            options.pages,
            options.seed,
        )
        print(made)


if __name__ == "__main__":
    main()
