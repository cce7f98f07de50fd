"""How certain the cells of a table are: how often those found in the same way are neighbours.

`uv run python tests/benchmarks table_competition` measures it, and holds it against `_CERTAINTY`.
"""

from typing import Literal

from carrel.server.reading.page.table import Table

Finder = Literal["ruled", "spaced", "seen"]
"""Rules; white space; the models."""

_CERTAINTY: dict[tuple[Finder, bool], float] = {
    ("ruled", False): 0.995,
    ("spaced", False): 0.99,
    ("seen", False): 0.95,
    ("ruled", True): 0.98,
    ("spaced", True): 0.41,
    ("seen", True): 0.97,
}
"""By finder, and whether in a scan: the fraction of neighbouring cells that are neighbours."""
_FEW = 9
"""Most cells of a table that may be other text side by side, unless it has rules."""
_OF_FEW = 0.03
"""That fraction of tables of few cells."""


def structure_certainty(table: Table, finder: Finder, *, scanned: bool) -> float:
    """How likely two neighbouring cells of a table are neighbours on the page."""
    if finder != "ruled" and len(table.cells) <= _FEW:
        return _OF_FEW
    return _CERTAINTY[finder, scanned]
