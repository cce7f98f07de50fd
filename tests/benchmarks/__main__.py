"""`uv run python tests/benchmarks [NAME …]`: runs the benchmarks and prints each figure.

A benchmark is a module of this folder with `measure() -> Iterable[Figure]`; its docstring says
what is measured, against which floor or peer, and on how much of what.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.report import Figure

HELPERS = {
    "__main__",
    "__init__",
    "calibration",
    "held_out",
    "order_certainty",
    "passages",
    "report",
}


def names() -> list[str]:
    """The benchmarks: every module of this folder that has a `measure`."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return [stem for stem in stems if stem not in HELPERS]


def main(wanted: list[str]) -> int:
    """The exit code: 1 when a promise was missed, 2 for an unknown name."""
    unknown = set(wanted) - set(names())
    if unknown:
        print(f"No such benchmark: {', '.join(sorted(unknown))}. Available: {', '.join(names())}.")
        return 2
    missed = False
    for name in wanted or names():
        print(name, flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        figure: Figure
        for figure in module.measure():
            print(f"  {figure}", flush=True)
            missed = missed or not figure.kept
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
